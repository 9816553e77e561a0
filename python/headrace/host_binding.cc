#include "python/headrace/host_binding.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "core/error.h"
#include "python/headrace/called.h"
#include "python/headrace/dataset_rows.h"
#include "python/headrace/deferred_release.h"
#include "python/headrace/stay_at_exit.h"
#include "python/headrace/tensor_binding.h"
#include "python/headrace/user_row.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

// Seeded by the row alone, so that a function's draws depend on nothing else.
py::object GeneratorOf(const RowRandom& random) {
  const py::module_ numpy_random = py::module_::import("numpy.random");
  py::array_t<uint64_t> key(2);
  key.mutable_at(0) = random.key();
  key.mutable_at(1) = random.row();
  return numpy_random.attr("Generator")(numpy_random.attr("Philox")(py::arg("key") = key));
}

std::string NameOf(const py::handle& callable) {
  for (const char* attribute : {"__qualname__", "__name__"}) {
    if (py::hasattr(callable, attribute)) return py::str(callable.attr(attribute));
  }
  return py::str(py::type::of(callable).attr("__name__"));
}

py::object IteratorOf(const py::handle& iterable) {
  PyObject* iterator = StayAtExit([&] { return PyObject_GetIter(iterable.ptr()); });
  if (iterator == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(iterator);
}

// Null at the end.
py::object NextOf(const py::handle& iterator) {
  PyObject* value = StayAtExit([&] { return PyIter_Next(iterator.ptr()); });
  if (value == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(value);
}

absl::Status LetGo(const std::string& function) {
  return MakeError(ErrorKind::kClosed, Cat("the iterator that calls ", function, " is closed"));
}

// Whether the function seems to have been written for a row as a dict: it does not take so many arguments, or indexes
// one by a name.
bool ExpectsADict(const py::error_already_set& raised) {
  if (raised.matches(PyExc_TypeError) && !raised.trace()) return true;
  if (!raised.matches(PyExc_TypeError) && !raised.matches(PyExc_IndexError)) return false;
  try {
    return std::string(py::str(raised.value())).find("indices") != std::string::npos;
  } catch (py::error_already_set&) {
    return false;
  }
}

std::string ArgumentsHint(absl::Span<const Tensor> inputs) {
  std::string hint = "; a function gets one argument for each column (here ";
  for (size_t i = 0; i < inputs.size(); ++i) Append(hint, i > 0 ? ", " : "", inputs[i].TypeName());
  return hint + "), not a row as a dict";
}

absl::Status WithHint(const absl::Status& status, std::string_view hint) {
  absl::Status hinted(status.code(), Cat(status.message(), hint));
  status.ForEachPayload(
      [&hinted](absl::string_view name, const absl::Cord& payload) { hinted.SetPayload(name, payload); });
  return hinted;
}

class PythonFunction : public HostFunction {
 public:
  PythonFunction(const py::object& callable, bool wants_rng, bool predicate, std::shared_ptr<UserObjects> objects)
      : name_(NameOf(callable)),
        objects_(std::move(objects)),
        callable_(objects_->Add(callable)),
        wants_rng_(wants_rng),
        predicate_(predicate) {}

  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> inputs, RowRandom* random,
                                           OutputAllocator& output) override {
    std::vector<Tensor> outputs;
    std::string hint;
    const absl::Status status = objects_->Call(name_, [&]() -> absl::Status {
      const py::object callable = objects_->At(callable_);
      if (!callable) return LetGo(name_);
      outputs = TensorsOf(CallPython(callable, inputs, random, hint), output);
      return absl::OkStatus();
    });
    if (status.ok()) return outputs;
    return hint.empty() ? status : WithHint(status, hint);
  }

 private:
  // Sets `hint` to what may be wrong if the call fails.
  py::object CallPython(const py::object& callable, absl::Span<const Tensor> inputs, const RowRandom* random,
                        std::string& hint) const {
    py::tuple arguments(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) arguments[i] = ArrayOf(inputs[i], Access::kReadOnly);
    py::dict named;
    if (wants_rng_ && random != nullptr) named["rng"] = GeneratorOf(*random);
    try {
      return Called(callable, arguments, named);
    } catch (py::error_already_set& raised) {
      if (ExpectsADict(raised)) hint = ArgumentsHint(inputs);
      throw;
    }
  }

  std::vector<Tensor> TensorsOf(py::object result, OutputAllocator& output) const {
    if (predicate_) {
      if (result.is_none()) throw py::type_error("it gave None, not whether to keep the row; is its return missing?");
      const int truth = PyObject_IsTrue(result.ptr());
      if (truth < 0) throw py::error_already_set();
      return {ValueOrRaise(Tensor::Scalar<bool>(truth != 0))};
    }
    if (PyTuple_Check(result.ptr())) return TensorsOfTuple(std::move(result), output);
    return {TensorOf(std::move(result), Sharing::kWhereAlone, output)};
  }

  const std::string name_;
  const std::shared_ptr<UserObjects> objects_;
  const size_t callable_;  // its index in objects
  const bool wants_rng_;
  const bool predicate_;
};

struct IteratorOptions {
  bool epoch_given;  // the callable has a parameter for the epoch
  bool start_given;  // the callable has a parameter `start`, and can seek
  RowForm form;
};

class PythonIterator : public HostIterator {
 public:
  // `callable`: its index in the objects.
  PythonIterator(size_t callable, IteratorOptions options, std::shared_ptr<UserObjects> objects)
      : options_(std::move(options)),
        objects_(std::move(objects)),
        callable_(callable),
        iterator_(objects_->Add(py::object())) {}

  absl::Status Start(uint64_t epoch, uint64_t position) override {
    return objects_->Call(options_.form.source, [&]() -> absl::Status {
      const py::object callable = objects_->At(callable_);
      if (!callable) return LetGo(options_.form.source);
      const py::object iterator = Begin(callable, epoch, position);
      const bool again = iterator.is(objects_->At(iterator_));
      objects_->Set(iterator_, iterator);
      if (again) {
        return UnsupportedError(options_.form.source,
                                " gives the same iterator for every epoch, which is used up after the "
                                "first; it must make a new one at each call");
      }
      if (position == 0 || options_.start_given) return absl::OkStatus();
      if (py::hasattr(iterator, "seek")) {
        iterator.attr("seek")(position);
        return absl::OkStatus();
      }
      for (uint64_t i = 0; i < position; ++i) {
        if (!NextOf(iterator))
          return StateError(options_.form.source, " gave ", i, " rows, but the state was taken after row ", position);
      }
      return absl::OkStatus();
    });
  }

  absl::StatusOr<std::vector<Tensor>> Next() override {
    std::vector<Tensor> row;
    HEADRACE_RETURN_IF_ERROR(objects_->Call(options_.form.source, [&]() -> absl::Status {
      const py::object iterator = objects_->At(iterator_);
      if (!iterator) return LetGo(options_.form.source);
      py::object value = NextOf(iterator);
      if (!value) return absl::OkStatus();
      return RowOf(std::move(value), options_.form, row);
    }));
    return row;
  }

 private:
  py::object Begin(const py::object& callable, uint64_t epoch, uint64_t position) const {
    py::list arguments;
    if (options_.epoch_given) arguments.append(epoch);
    py::dict named;
    if (options_.start_given) named["start"] = position;
    return IteratorOf(Called(callable, py::tuple(arguments), named));
  }

  const IteratorOptions options_;
  const std::shared_ptr<UserObjects> objects_;
  const size_t callable_;  // its index in objects
  const size_t iterator_;  // the index of this epoch's iterator
};

HostArrays ArraysOf(const py::dict& columns) {
  HostArrays arrays;
  // Arrays belong to the user, even if his function passes them to a pipeline of its own while it runs.
  const TaskMemory uncounted(&BufferPool::Current(), nullptr, 0);
  for (const auto& [name, array] : columns) {
    const std::string column = py::str(name);
    try {
      arrays.columns.emplace_back(column, TensorOf(py::reinterpret_borrow<py::object>(array), Sharing::kAlways));
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
      Raise(GraphError("column \"", column, "\" is no array that can be held: ", std::string(py::str(error.value()))));
    } catch (py::builtin_exception& error) {
      Raise(GraphError("column \"", column, "\" is no array that can be held: ", error.what()));
    }
  }
  return arrays;
}

}  // namespace

HostBindings BindingsOf(const py::dict& references, const std::shared_ptr<UserObjects>& objects) {
  HostBindings bindings;
  bindings.lock = &HoldGil;
  for (const auto& [key, value] : references) {
    const std::string name = py::str(key);
    const auto bound = py::reinterpret_borrow<py::tuple>(value);
    const std::string kind = py::str(bound[0]);
    if (kind == "function") {
      bindings.functions[name] =
          std::make_shared<PythonFunction>(bound[1], bound[2].cast<bool>(), bound[3].cast<bool>(), objects);
    } else if (kind == "iterator") {
      const IteratorOptions options = {
          bound[2].cast<bool>(), bound[3].cast<bool>(), {NameOf(bound[1]), bound[4].cast<std::vector<std::string>>()}};
      const size_t callable = objects->Add(bound[1]);
      bindings.iterators[name] = [callable, options, objects]() -> std::shared_ptr<HostIterator> {
        const py::gil_scoped_acquire gil;
        return std::make_shared<PythonIterator>(callable, options, objects);
      };
    } else if (kind == "rows") {
      bindings.rows[name] = DatasetRows(bound[1], bound[2].cast<std::vector<std::string>>(), objects);
    } else {
      bindings.arrays[name] = ArraysOf(py::reinterpret_borrow<py::dict>(bound[1]));
    }
  }
  return bindings;
}

}  // namespace headrace::python
