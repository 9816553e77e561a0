#include "python/binding/module/host_binding.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "core/error.h"
#include "core/text.h"
#include "python/binding/host/dataset_rows.h"
#include "python/binding/host/user_function.h"
#include "python/binding/host/user_parameter.h"
#include "python/binding/host/user_row.h"
#include "python/binding/module/arrow_binding.h"
#include "python/binding/process/process_calls.h"
#include "python/binding/process/process_pool.h"
#include "python/binding/values/called.h"
#include "python/binding/values/deferred_release.h"
#include "python/binding/values/tensor_binding.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

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
      if (!callable) return ObjectsReleased(options_.form.source);
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
      if (!iterator) return ObjectsReleased(options_.form.source);
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

// What `hold` makes of the array.
template <typename Hold>
auto Held(const std::string& column, const py::handle& array, const Hold& hold) {
  try {
    return hold(py::reinterpret_borrow<py::object>(array));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    Raise(GraphError("column \"", column, "\" is no array that can be held: ", MessageBytes(py::str(error.value()))));
  } catch (py::builtin_exception& error) {
    Raise(GraphError("column \"", column, "\" is no array that can be held: ", error.what()));
  }
}

Tensor HeldArray(const std::string& column, const py::handle& array) {
  return Held(column, array, [](py::object given) { return TensorOf(std::move(given), Sharing::kAlways); });
}

// ("arrays", {column: array}, {column: splits})
HostArrays ArraysOf(const py::tuple& bound) {
  HostArrays arrays;
  // Arrays belong to the user, even if his function passes them to a pipeline of its own while it runs.
  const TaskMemory uncounted(&BufferPool::Current(), nullptr, 0);
  for (const auto& [name, array] : py::reinterpret_borrow<py::dict>(bound[1])) {
    const std::string column = py::str(name);
    std::optional<StridedArray> strided = Held(column, array, &StridedOf);
    if (strided.has_value()) {
      arrays.strided.emplace(column, *std::move(strided));
    } else {
      arrays.columns.emplace_back(column, HeldArray(column, array));
    }
  }
  for (const auto& [name, splits] : py::reinterpret_borrow<py::dict>(bound[2])) {
    const std::string column = py::str(name);
    arrays.splits.emplace(column, HeldArray(column, splits));
  }
  return arrays;
}

// The pools of worker processes that an iteration has, each made for the first binding that names it.
class Pools {
 public:
  Pools(bool packs, std::shared_ptr<UserObjects> objects) : packs_(packs), objects_(std::move(objects)) {}

  std::shared_ptr<ProcessPool> Of(const py::object& workers) {
    const py::object pool = workers.attr("pool");
    std::shared_ptr<ProcessPool>& made = pools_[pool.ptr()];
    if (made != nullptr) return made;
    made = std::make_shared<ProcessPool>(NameOf(pool), pool, packs_, objects_);
    objects_->AddEarly(made);
    return made;
  }

 private:
  static std::string NameOf(const py::object& pool) {
    const bool functions = std::string(py::str(pool.attr("kind"))) == "function";
    std::string names;
    for (const py::handle& each : pool.attr("targets")) {
      const py::object target = py::reinterpret_borrow<py::tuple>(each)[0];
      Append(names, names.empty() ? "" : ", ", NameOfCallable(functions ? target : py::type::of(target)));
    }
    return names;
  }

  const bool packs_;
  const std::shared_ptr<UserObjects> objects_;
  std::map<PyObject*, std::shared_ptr<ProcessPool>> pools_;
};

// ("function", callable, wants_rng, predicate, workers, {argument: parameter})
std::shared_ptr<HostFunction> FunctionOf(const py::tuple& bound, bool runs, Pools& pools,
                                         const std::shared_ptr<UserObjects>& objects) {
  const py::object workers = bound[4];
  ReadParameters reads;
  for (const auto& [argument, parameter] : py::reinterpret_borrow<py::dict>(bound[5])) {
    reads.emplace_back(py::str(argument), UserParameter(py::reinterpret_borrow<py::object>(parameter), runs, objects));
  }
  if (workers.is_none()) {
    return UserFunction(bound[1], bound[2].cast<bool>(), bound[3].cast<bool>(), std::move(reads), objects);
  }
  return FunctionInProcesses(workers.attr("number").cast<uint64_t>(), pools.Of(workers));
}

// ("rows", dataset, columns, workers)
std::shared_ptr<HostRows> RowsOf(const py::tuple& bound, Pools& pools, const std::shared_ptr<UserObjects>& objects) {
  std::shared_ptr<HostRows> here = DatasetRows(bound[1], bound[2].cast<std::vector<std::string>>(), objects);
  const py::object workers = bound[3];
  return workers.is_none() ? here : RowsInProcesses(std::move(here), pools.Of(workers));
}

// ("rows made elsewhere", rows, columns)
std::shared_ptr<HostRows> RowsMadeElsewhere(const py::tuple& bound, const std::shared_ptr<UserObjects>& objects) {
  return DatasetRows(bound[1], bound[2].cast<std::vector<std::string>>(), objects, MadeBy::kRun);
}

}  // namespace

HostBindings BindingsOf(const py::dict& references, bool runs, const std::shared_ptr<UserObjects>& objects) {
  HostBindings bindings;
  bindings.lock = &HoldGil;
  Pools pools(runs, objects);
  for (const auto& [key, value] : references) {
    const std::string name = py::str(key);
    const auto bound = py::reinterpret_borrow<py::tuple>(value);
    const std::string kind = py::str(bound[0]);
    if (kind == "function") {
      bindings.functions[name] = FunctionOf(bound, runs, pools, objects);
    } else if (kind == "parameter") {
      bindings.functions[name] = UserParameter(bound[1], runs, objects);
    } else if (kind == "iterator") {
      const IteratorOptions options = {bound[2].cast<bool>(),
                                       bound[3].cast<bool>(),
                                       {NameOfCallable(bound[1]), bound[4].cast<std::vector<std::string>>()}};
      const size_t callable = objects->Add(bound[1]);
      bindings.iterators[name] = [callable, options, objects]() -> std::shared_ptr<HostIterator> {
        const py::gil_scoped_acquire gil;
        return std::make_shared<PythonIterator>(callable, options, objects);
      };
    } else if (kind == "arrow") {
      bindings.arrow[name] = bound[1].cast<const ArrowData&>().bound();
    } else if (kind == "rows") {
      bindings.rows[name] = RowsOf(bound, pools, objects);
    } else if (kind == "rows made elsewhere") {
      bindings.rows[name] = RowsMadeElsewhere(bound, objects);
    } else {
      bindings.arrays[name] = ArraysOf(bound);
    }
  }
  return bindings;
}

}  // namespace headrace::python
