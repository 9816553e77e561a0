#include "python/binding/host/user_function.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/error.h"
#include "core/text.h"
#include "engine/operator/host_children.h"
#include "ir/graph.pb.h"
#include "python/binding/host/user_children.h"
#include "python/binding/host/user_row.h"
#include "python/binding/values/called.h"
#include "python/binding/values/tensor_binding.h"
#include "python/binding/values/value_conversion.h"

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

// Whether a method of dicts was looked for in an argument.
bool LacksMethodOfDicts(const py::error_already_set& raised, const py::tuple& arguments) {
  constexpr std::string_view kMethods[] = {"get", "items", "keys", "pop", "setdefault", "update", "values"};
  const py::object object = py::getattr(raised.value(), "obj", py::none());
  const bool given =
      std::any_of(arguments.begin(), arguments.end(), [&](const py::handle& argument) { return argument.is(object); });
  const py::object name = py::getattr(raised.value(), "name", py::none());
  return given && py::isinstance<py::str>(name) &&
         std::find(std::begin(kMethods), std::end(kMethods), std::string(py::str(name))) != std::end(kMethods);
}

// Whether the function seems to have been written for a row as a dict: it does not take so many arguments, or uses one
// as a dict.
bool ExpectsADict(const py::error_already_set& raised, const py::tuple& arguments) {
  if (raised.matches(PyExc_AttributeError)) return LacksMethodOfDicts(raised, arguments);
  if (raised.matches(PyExc_TypeError) && !raised.trace()) return true;
  if (!raised.matches(PyExc_TypeError) && !raised.matches(PyExc_IndexError)) return false;
  try {
    return std::string(py::str(raised.value())).find("indices") != std::string::npos;
  } catch (py::error_already_set&) {
    return false;
  }
}

// What the function gets. One of this package that calls the user's says it itself.
std::string ArgumentsHint(const py::handle& callable, absl::Span<const Tensor> inputs) {
  if (py::hasattr(callable, "_headrace_arguments")) return MessageBytes(py::str(callable.attr("_headrace_arguments")));
  std::string hint = "; a function gets one argument for each column (here ";
  for (size_t i = 0; i < inputs.size(); ++i) Append(hint, i > 0 ? ", " : "", inputs[i].TypeName());
  return hint + "), not a row as a dict";
}

[[noreturn]] void RefuseDict(const py::handle& result) {
  std::string names;
  for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(result)) {
    Append(names, names.empty() ? "" : ", ", ShownValue(name));
  }
  throw TypeError("it gave a dict of ", names, "; give a tuple of the values, and name their columns: output=[", names,
                  "]");
}

absl::Status WithHint(const absl::Status& status, std::string_view hint) {
  return Reworded(status, Cat(status.message(), hint));
}

// Of numbers and lists of them.
py::object ObjectOf(const ir::proto::Value& value) {
  switch (value.kind_case()) {
    case ir::proto::Value::kInteger:
      return py::int_(value.integer());
    case ir::proto::Value::kReal:
      return py::float_(value.real());
    case ir::proto::Value::kIntegers:
      return py::tuple(
          py::cast(std::vector<int64_t>(value.integers().values().begin(), value.integers().values().end())));
    default:
      return py::tuple(py::cast(std::vector<double>(value.reals().values().begin(), value.reals().values().end())));
  }
}

class PythonFunction : public HostFunction, public ChildrenFunction, public ParameterReader {
 public:
  PythonFunction(const py::object& callable, bool wants_rng, bool predicate, ReadParameters reads,
                 std::shared_ptr<UserObjects> objects)
      : name_(NameOfCallable(callable)),
        objects_(std::move(objects)),
        callable_(objects_->Add(callable)),
        wants_rng_(wants_rng),
        predicate_(predicate),
        reads_(std::move(reads)),
        iterators_(std::make_shared<IteratorPlaces>(objects_)) {}

  std::vector<std::shared_ptr<HostParameter>> parameters() const override {
    std::vector<std::shared_ptr<HostParameter>> all;
    for (const auto& [_, parameter] : reads_) all.push_back(parameter);
    return all;
  }

  absl::StatusOr<std::shared_ptr<HostFunction>> InEpoch(uint64_t epoch) const override {
    auto function = std::make_shared<PythonFunction>(*this);
    for (const auto& [argument, parameter] : reads_) {
      HEADRACE_ASSIGN_OR_RETURN(ir::proto::Value value, parameter->ValueIn(epoch));
      function->values_.emplace_back(argument, std::move(value));
    }
    return function;
  }

  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> inputs, RowRandom* random,
                                           OutputAllocator& output) override {
    std::vector<Tensor> outputs;
    HEADRACE_RETURN_IF_ERROR(
        CallWith(inputs, random, [&](py::object result) { outputs = TensorsOf(std::move(result), output); }));
    return outputs;
  }

  absl::StatusOr<std::unique_ptr<HostChildren>> MakeChildren(absl::Span<const Tensor> inputs, RowRandom* random,
                                                             const std::vector<std::string>& columns) override {
    std::unique_ptr<HostChildren> children;
    HEADRACE_RETURN_IF_ERROR(CallWith(inputs, random, [&](const py::object& result) {
      children = UserChildren(name_, result, columns, iterators_);
    }));
    return children;
  }

 private:
  // `use` gets what the function gave.
  absl::Status CallWith(absl::Span<const Tensor> inputs, const RowRandom* random,
                        absl::FunctionRef<void(py::object result)> use) const {
    std::string hint;
    const absl::Status status = objects_->Call(name_, [&]() -> absl::Status {
      const py::object callable = objects_->At(callable_);
      if (!callable) return ObjectsReleased(name_);
      use(CallPython(callable, inputs, random, hint));
      return absl::OkStatus();
    });
    return hint.empty() ? status : WithHint(status, hint);
  }

  // Sets `hint` to what may be wrong if the call fails.
  py::object CallPython(const py::object& callable, absl::Span<const Tensor> inputs, const RowRandom* random,
                        std::string& hint) const {
    py::tuple arguments(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) arguments[i] = ArrayOf(inputs[i], Access::kReadOnly);
    py::dict named;
    if (wants_rng_ && random != nullptr) named["rng"] = GeneratorOf(*random);
    for (const auto& [argument, value] : values_) named[py::str(argument)] = ObjectOf(value);
    try {
      return Called(callable, arguments, named);
    } catch (py::error_already_set& raised) {
      if (ExpectsADict(raised, arguments)) hint = ArgumentsHint(callable, inputs);
      throw;
    }
  }

  std::vector<Tensor> TensorsOf(py::object result, OutputAllocator& output) const {
    if (predicate_) {
      if (result.is_none()) throw TypeError("it gave None, not whether to keep the row; is its return missing?");
      const int truth = PyObject_IsTrue(result.ptr());
      if (truth < 0) throw py::error_already_set();
      return {ValueOrRaise(Tensor::Scalar<bool>(truth != 0))};
    }
    if (PyTuple_Check(result.ptr())) return TensorsOfTuple(std::move(result), output);
    if (PyDict_Check(result.ptr())) RefuseDict(result);
    return {TensorOf(std::move(result), Sharing::kWhereAlone, output)};
  }

  const std::string name_;
  const std::shared_ptr<UserObjects> objects_;
  const size_t callable_;  // its index in objects
  const bool wants_rng_;
  const bool predicate_;
  const ReadParameters reads_;
  const std::shared_ptr<IteratorPlaces> iterators_;
  std::vector<std::pair<std::string, ir::proto::Value>> values_;  // of reads_ in the epoch; const once made
};

}  // namespace

std::string NameOfCallable(const py::handle& callable) {
  for (const char* attribute : {"__qualname__", "__name__"}) {
    if (py::hasattr(callable, attribute)) return MessageBytes(py::str(callable.attr(attribute)));
  }
  return MessageBytes(py::type::of(callable).attr("__name__"));
}

std::shared_ptr<HostFunction> UserFunction(const py::object& callable, bool wants_rng, bool predicate,
                                           ReadParameters reads, std::shared_ptr<UserObjects> objects) {
  return std::make_shared<PythonFunction>(callable, wants_rng, predicate, std::move(reads), std::move(objects));
}

}  // namespace headrace::python
