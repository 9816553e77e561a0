#include "core/output_allocator.h"

#include <algorithm>
#include <utility>

namespace headrace {

OutputAllocator::OutputAllocator(Tensor slot) : slot_(std::move(slot)), has_slot_(slot_.valid()) {}

absl::StatusOr<Tensor> OutputAllocator::Allocate(DType dtype, absl::Span<const int64_t> shape) {
  const bool fits = has_slot_ && slot_.dtype() == dtype &&
                    std::equal(shape.begin(), shape.end(), slot_.shape().begin(), slot_.shape().end());
  if (!fits) return Tensor::Allocate(dtype, shape);
  has_slot_ = false;
  return std::move(slot_);
}

}  // namespace headrace
