// `RunFunction` makes several calls of a host function in one exchange, as with another process, which costs more than
// a small call itself.
// Threads: as HostFunction's.
#ifndef HEADRACE_ENGINE_OPERATOR_HOST_RUNS_H_
#define HEADRACE_ENGINE_OPERATOR_HOST_RUNS_H_

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/output_allocator.h"
#include "core/philox.h"
#include "core/tensor.h"

namespace headrace {

// As the arguments of HostFunction::Call.
struct HostCall {
  absl::Span<const Tensor> inputs;
  RowRandom* random = nullptr;
  OutputAllocator* output = nullptr;
};

// A HostFunction that can be called for many rows at once.
class RunFunction {
 public:
  virtual ~RunFunction() = default;
  using Results = absl::StatusOr<std::vector<Tensor>>;
  // Gets results of calls that follow each other, from call `first` on.
  using TakeResults = absl::FunctionRef<void(size_t first, absl::Span<Results> results)>;
  // Makes each call as HostFunction::Call does, in order, and gives out the results of all, also in order. Those that
  // are there are not kept back by a call that takes long: it may wait for what the user does with them.
  virtual void CallRun(absl::Span<const HostCall> calls, TakeResults take) = 0;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_HOST_RUNS_H_
