#include "kernels/vision/codecs/growing_bytes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace headrace {

absl::Status GrowingBytes::Reserve(size_t capacity) {
  if (capacity <= capacity_) return absl::OkStatus();
  HEADRACE_ASSIGN_OR_RETURN(Tensor larger, Tensor::Allocate(DType::kUInt8, {static_cast<int64_t>(capacity)}));
  if (size_ > 0) std::memcpy(larger.mutable_raw(), memory_.raw(), size_);
  memory_ = std::move(larger);
  capacity_ = capacity;
  return absl::OkStatus();
}

absl::Status GrowingBytes::Grow(size_t more) { return Reserve(std::max(2 * capacity_, size_ + more)); }

}  // namespace headrace
