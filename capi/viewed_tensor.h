// `ViewInput` and `ViewSlot` make tensors over memory of the caller's, after a check of all that they say of it.
// Nothing is copied. Threads: pure functions; the tensors are used during one call.
#ifndef HEADRACE_CAPI_VIEWED_TENSOR_H_
#define HEADRACE_CAPI_VIEWED_TENSOR_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "capi/headrace.h"
#include "core/tensor.h"

namespace headrace::capi {

// Argument error: it says what cannot be.
absl::StatusOr<Tensor> ViewInput(const hr_tensor& given);
// Where an output is to be written; nullopt: it is to be allocated.
absl::StatusOr<std::optional<Tensor>> ViewSlot(const hr_tensor& given);

// Whether it is an array of bytes or strings, which has offsets in the C interface.
inline bool IsStringTable(const Tensor& tensor) { return IsVariableLength(tensor.dtype()) && tensor.rank() > 0; }

// That the structure is of this version of the interface.
absl::Status CheckTensorSize(const hr_tensor& given);

}  // namespace headrace::capi

#endif  // HEADRACE_CAPI_VIEWED_TENSOR_H_
