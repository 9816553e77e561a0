#include "python/binding/host/user_parameter.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "ir/graph.pb.h"
#include "ir/parameters.h"
#include "python/binding/values/value_conversion.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

class PythonParameter : public HostParameter {
 public:
  PythonParameter(const py::object& parameter, bool runs, std::shared_ptr<UserObjects> objects)
      : name_(py::str(parameter.attr("name"))),
        runs_(runs),
        objects_(std::move(objects)),
        parameter_(objects_->Add(parameter)) {}

  const std::string& name() const override { return name_; }

  absl::StatusOr<ir::proto::Value> ValueIn(uint64_t epoch) override {
    ir::proto::Value value;
    const std::string shown = ir::ParameterText(name_);
    HEADRACE_RETURN_IF_ERROR(objects_->Call(shown, [&]() -> absl::Status {
      const py::object parameter = object();
      if (!parameter) return ObjectsReleased(shown);
      value = ValueOf(parameter.attr(runs_ ? "_value_in" : "value")(epoch));
      return absl::OkStatus();
    }));
    return value;
  }

  void AddReader(ReaderEpochs epochs) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    readers_.push_back(std::move(epochs));
  }

  // In an epoch of the result; nullopt: nothing reads it.
  std::optional<EpochRange> Read(uint64_t epoch) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::optional<EpochRange> all;
    for (const ReaderEpochs& reader : readers_) {
      const EpochRange epochs = reader.In(epoch);
      if (!all.has_value()) all = epochs;
      all = EpochRange{std::min(all->first, epochs.first), std::max(all->last, epochs.last)};
    }
    return all;
  }

  // Null: it was released.
  py::object object() const { return objects_->At(parameter_); }

 private:
  const std::string name_;
  const bool runs_;
  const std::shared_ptr<UserObjects> objects_;
  const size_t parameter_;  // its index in objects
  mutable std::mutex mutex_;
  std::vector<ReaderEpochs> readers_;  // guarded by mutex_
};

}  // namespace

std::shared_ptr<HostParameter> UserParameter(const py::object& parameter, bool runs,
                                             std::shared_ptr<UserObjects> objects) {
  return std::make_shared<PythonParameter>(parameter, runs, std::move(objects));
}

py::list ReadInEpoch(const HostBindings& bindings, uint64_t epoch) {
  py::list read;
  const auto add = [&](const HostFunction* function) {
    const auto* const parameter = dynamic_cast<const PythonParameter*>(function);
    if (parameter == nullptr) return;
    const std::optional<EpochRange> epochs = parameter->Read(epoch);
    const py::object object = parameter->object();
    if (epochs.has_value() && object) read.append(py::make_tuple(object, epochs->first, epochs->last));
  };
  for (const auto& [_, function] : bindings.functions) {
    add(function.get());
    const auto* const reader = dynamic_cast<const ParameterReader*>(function.get());
    if (reader == nullptr) continue;
    for (const auto& parameter : reader->parameters()) add(parameter.get());
  }
  return read;
}

}  // namespace headrace::python
