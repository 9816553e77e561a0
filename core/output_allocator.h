// `OutputAllocator` allocates a result where it is used next: in the row's batch slot if the result has the slot's
// dtype and shape, otherwise in its own memory. A result elsewhere is copied into the batch later, so the slot is an
// optimization. Intermediate values are allocated by Tensor::Allocate, or one of them would take the slot.
// Threads: used by one thread.
#ifndef HEADRACE_CORE_OUTPUT_ALLOCATOR_H_
#define HEADRACE_CORE_OUTPUT_ALLOCATOR_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"

namespace headrace {

class OutputAllocator {
 public:
  // Has no slot.
  OutputAllocator() = default;
  // An invalid tensor: no slot.
  explicit OutputAllocator(Tensor slot);

  // Row-major and not initialised. The slot is used only once. Fails as Tensor::Allocate does.
  absl::StatusOr<Tensor> Allocate(DType dtype, absl::Span<const int64_t> shape);

 private:
  Tensor slot_;
  bool has_slot_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_OUTPUT_ALLOCATOR_H_
