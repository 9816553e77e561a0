// `GivenOutputs` are the results of a request on their way into the caller's structures: memory that they own is made
// first, and Give() cannot fail, so that after an error nothing has to be released.
// Threads: one thread.
#ifndef HEADRACE_CAPI_GIVEN_OUTPUT_H_
#define HEADRACE_CAPI_GIVEN_OUTPUT_H_

#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "capi/headrace.h"
#include "core/tensor.h"

namespace headrace::capi {

class GivenOutputs {
 public:
  // Takes results, one an output. Those in memory of the caller's stay there; the others become row-major, and share
  // memory with nobody.
  absl::Status Take(std::vector<Tensor> results, absl::Span<const hr_tensor> outputs);
  // The same for outputs that are all allocated. After an error `results` are as they were.
  absl::Status TakeRow(std::vector<Tensor>& results);
  void Give(absl::Span<hr_tensor> outputs) noexcept;

 private:
  // Null: in memory of the caller's.
  absl::InlinedVector<std::unique_ptr<Tensor>, 2> owned_;
};

// Moves the tensor that an output owns out of it; null if it owns none.
std::unique_ptr<Tensor> TakeOwned(hr_tensor& output) noexcept;

}  // namespace headrace::capi

#endif  // HEADRACE_CAPI_GIVEN_OUTPUT_H_
