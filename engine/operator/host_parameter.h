// `HostParameter` is a number that the user changes from epoch to epoch; `ReaderEpochs` and `ParameterReader` tell
// which operators read it. A parameter is bound by the name in the graph among the host functions, and is not called
// with rows.
// Threads: ReaderEpochs is a value; the rest is said at each method.
#ifndef HEADRACE_ENGINE_OPERATOR_HOST_PARAMETER_H_
#define HEADRACE_ENGINE_OPERATOR_HOST_PARAMETER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/operator/epoch_range.h"
#include "engine/operator/host.h"
#include "engine/operator/operator.h"
#include "engine/operator/operator_properties.h"
#include "ir/messages.h"

namespace headrace {

// The epochs of an operator, as its rows have them, in the epochs of the result.
class ReaderEpochs {
 public:
  // `path`: the mappings from the result down to the operator; `cycle`: as OpArguments'.
  ReaderEpochs(std::vector<EpochMapping> path, uint64_t cycle) : path_(std::move(path)), cycle_(cycle) {}
  EpochRange In(uint64_t epoch) const;

 private:
  std::vector<EpochMapping> path_;
  uint64_t cycle_;
};

class HostParameter : public HostFunction {
 public:
  // One in a pipeline.
  virtual const std::string& name() const = 0;
  // The value in an epoch, as the operator numbers it that reads it; from the first call on it stays the same. Calls
  // the user's code. From any thread.
  virtual absl::StatusOr<ir::proto::Value> ValueIn(uint64_t epoch) = 0;
  // Says where it is read, when a run is made.
  virtual void AddReader(ReaderEpochs /*epochs*/) {}
  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> inputs, RowRandom* random,
                                           OutputAllocator& output) override;
};

// A function of the host that reads parameters besides its inputs.
class ParameterReader {
 public:
  virtual ~ParameterReader() = default;
  virtual std::vector<std::shared_ptr<HostParameter>> parameters() const = 0;
  // The function with the values that they have in an epoch. From any thread.
  virtual absl::StatusOr<std::shared_ptr<HostFunction>> InEpoch(uint64_t epoch) const = 0;
};

// The function, with the values that the parameters it reads have in an epoch.
absl::StatusOr<std::shared_ptr<HostFunction>> FunctionInEpoch(std::shared_ptr<HostFunction> function, uint64_t epoch);

// By name.
using ParameterSet = std::map<std::string, std::shared_ptr<HostParameter>>;
// Those that the kernels and functions of an operator read.
ParameterSet ParametersRead(const OpArguments& arguments);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_HOST_PARAMETER_H_
