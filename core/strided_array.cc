#include "core/strided_array.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/text.h"

namespace headrace {
namespace {

// Copies elements of a size that the compiler knows, so that each is one load and one store.
template <size_t kItem>
void CopyElements(const uint8_t* source, int64_t count, int64_t stride, uint8_t* target) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(target + i * kItem, source + i * stride, kItem);
}

void CopyAxis(const uint8_t* source, int64_t count, int64_t stride, size_t item, uint8_t* target) {
  if (stride == static_cast<int64_t>(item)) {
    std::memcpy(target, source, static_cast<size_t>(count) * item);
    return;
  }
  switch (item) {
    case 1:
      return CopyElements<1>(source, count, stride, target);
    case 2:
      return CopyElements<2>(source, count, stride, target);
    case 4:
      return CopyElements<4>(source, count, stride, target);
    default:
      return CopyElements<8>(source, count, stride, target);
  }
}

}  // namespace

StridedArray::StridedArray(DType dtype, absl::Span<const int64_t> shape, absl::Span<const int64_t> strides,
                           BufferRef memory, const void* first)
    : dtype_(dtype),
      shape_(shape.begin(), shape.end()),
      strides_(strides.begin(), strides.end()),
      memory_(std::move(memory)),
      first_(static_cast<const uint8_t*>(first)),
      item_(ItemSize(dtype)),
      bytes_(static_cast<size_t>(ElementCount(shape)) * item_) {
  bool aligned = reinterpret_cast<uintptr_t>(first_) % item_ == 0 && strides_[0] % static_cast<int64_t>(item_) == 0;
  for (size_t i = 1; i < shape_.size(); ++i) {
    aligned &= strides_[i] % static_cast<int64_t>(item_) == 0;
    if (shape_[i] == 1) continue;
    const bool joins = !row_.empty() && row_.back().stride == shape_[i] * strides_[i];
    if (joins) {
      row_.back() = {row_.back().size * shape_[i], strides_[i]};
    } else {
      row_.push_back({shape_[i], strides_[i]});
    }
  }
  has_views_ = aligned && (row_.empty() || (row_.size() == 1 && row_[0].stride == static_cast<int64_t>(item_)));
}

std::string StridedArray::TypeName() const { return Cat(DTypeName(dtype_), " ", ShapeName(shape_)); }

Tensor StridedArray::View(int64_t i) const {
  return Tensor::View(dtype_, absl::MakeConstSpan(shape_).subspan(1), memory_, first_ + i * strides_[0]);
}

// Recurses by the number of axes, at most 64 of NumPy's.
void StridedArray::CopyAxes(const uint8_t* source, absl::Span<const Axis> axes, uint8_t*& target) const {
  if (axes.size() == 1) {
    CopyAxis(source, axes[0].size, axes[0].stride, item_, target);
    target += static_cast<size_t>(axes[0].size) * item_;
    return;
  }
  for (int64_t i = 0; i < axes[0].size; ++i) CopyAxes(source + i * axes[0].stride, axes.subspan(1), target);
}

uint8_t* StridedArray::CopyTo(int64_t begin, int64_t count, uint8_t* target) const {
  if (bytes_ == 0 || count == 0) return target;
  const uint8_t* const source = first_ + begin * strides_[0];
  if (row_.empty()) {
    CopyAxis(source, count, strides_[0], item_, target);
    return target + static_cast<size_t>(count) * item_;
  }
  for (int64_t i = 0; i < count; ++i) CopyAxes(source + i * strides_[0], row_, target);
  return target;
}

absl::StatusOr<Tensor> StridedArray::Copy(int64_t begin, int64_t count) const {
  Shape shape = shape_;
  shape[0] = count;
  absl::StatusOr<Tensor> copy = Tensor::Allocate(dtype_, shape);
  if (copy.ok()) CopyTo(begin, count, copy->mutable_raw());
  return copy;
}

void StridedArray::CopyBytes(size_t at, size_t size, uint8_t* target) const {
  if (size == 0) return;
  // The indices of the element that holds the first byte.
  Shape indices(shape_.size());
  auto rest = static_cast<int64_t>(at / item_);
  const uint8_t* element = first_;
  for (size_t axis = shape_.size(); axis-- > 0;) {
    indices[axis] = rest % shape_[axis];
    rest /= shape_[axis];
    element += indices[axis] * strides_[axis];
  }
  size_t skipped = at % item_;
  while (true) {
    const size_t taken = std::min(size, item_ - skipped);
    std::memcpy(target, element + skipped, taken);
    target += taken;
    size -= taken;
    skipped = 0;
    if (size == 0) return;
    size_t axis = shape_.size() - 1;
    element += strides_[axis];
    // An axis that is at its end begins anew, and the one before it goes on.
    while (++indices[axis] == shape_[axis]) {
      element -= shape_[axis] * strides_[axis];
      indices[axis] = 0;
      element += strides_[--axis];
    }
  }
}

}  // namespace headrace
