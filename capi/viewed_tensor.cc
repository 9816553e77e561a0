#include "capi/viewed_tensor.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "capi/call_status.h"
#include "core/buffer.h"
#include "core/dtype.h"
#include "core/error.h"

namespace headrace::capi {
namespace {

// What is given for no bytes: kernels take no null pointers.
alignas(kBufferAlignment) uint8_t nothing[kBufferAlignment];

struct Extent {
  DType dtype;
  absl::Span<const int64_t> shape;
  int64_t elements;
};

absl::StatusOr<DType> DTypeOfTensor(const hr_tensor& given) {
  if (given.dtype < HR_BOOL || given.dtype > HR_STRING) {
    return ArgumentError("dtype must be one of hr_dtype, and not HR_UNKNOWN; got ", given.dtype);
  }
  return static_cast<DType>(given.dtype);
}

absl::StatusOr<Extent> ExtentOf(const hr_tensor& given) {
  HEADRACE_RETURN_IF_ERROR(CheckTensorSize(given));
  HEADRACE_ASSIGN_OR_RETURN(const DType dtype, DTypeOfTensor(given));
  if (given.axes < 0 || given.axes > HR_MOST_AXES) {
    return ArgumentError("axes must be 0 to ", HR_MOST_AXES, "; got ", given.axes);
  }
  const absl::Span<const int64_t> shape(given.shape, static_cast<size_t>(given.axes));
  // In this order an overflow is found even where a later axis is empty: the engine multiplies, too.
  int64_t elements = 1;
  int64_t bytes = 0;
  for (const int64_t length : shape) {
    if (length < 0) return ArgumentError("shape must not be negative; got ", ShapeName(shape));
    const int64_t item = std::max<int64_t>(static_cast<int64_t>(ItemSize(dtype)), 2 * sizeof(int64_t));
    if (__builtin_mul_overflow(elements, length, &elements) || __builtin_mul_overflow(elements, item, &bytes)) {
      return ArgumentError("shape has more elements than memory can hold; got ", ShapeName(shape));
    }
  }
  return Extent{dtype, shape, elements};
}

absl::Status CheckMemory(const hr_tensor& given, const Extent& extent) {
  const size_t item = ItemSize(extent.dtype);
  const uint64_t needed = static_cast<uint64_t>(extent.elements) * item;
  if (given.bytes < needed) {
    return ArgumentError("bytes must be at least ", needed, " for ", DTypeName(extent.dtype), " ",
                         ShapeName(extent.shape), "; got ", given.bytes);
  }
  if (given.data == nullptr && needed > 0) return ArgumentError("data is NULL, and ", needed, " bytes are needed");
  if (reinterpret_cast<uintptr_t>(given.data) % item != 0) {
    return ArgumentError("data must be aligned to ", item, " bytes for ", DTypeName(extent.dtype));
  }
  return absl::OkStatus();
}

void* Start(const hr_tensor& given) { return given.data == nullptr ? nothing : given.data; }

absl::StatusOr<BufferRef> Borrow(const void* data, size_t bytes) {
  BufferRef buffer = BufferRef::Borrowed(data, bytes);
  if (!buffer) return ResourceError("there is no memory for another request");
  return buffer;
}

absl::StatusOr<Tensor> ViewNumbers(const hr_tensor& given, const Extent& extent) {
  HEADRACE_RETURN_IF_ERROR(CheckMemory(given, extent));
  if (given.offsets != nullptr) return ArgumentError("offsets must be NULL for ", DTypeName(extent.dtype));
  const size_t bytes = static_cast<size_t>(extent.elements) * ItemSize(extent.dtype);
  HEADRACE_ASSIGN_OR_RETURN(BufferRef buffer, Borrow(Start(given), bytes));
  return Tensor::View(extent.dtype, extent.shape, std::move(buffer), Start(given));
}

// A bool of another value is undefined in C++.
absl::Status CheckBools(const Tensor& tensor) {
  const absl::Span<const uint8_t> values(tensor.raw(), tensor.bytes());
  const auto found = std::find_if(values.begin(), values.end(), [](uint8_t value) { return value > 1; });
  if (found == values.end()) return absl::OkStatus();
  return ArgumentError("bools must be 0 or 1; element ", found - values.begin(), " is ", static_cast<int>(*found));
}

absl::Status CheckOffsets(const hr_tensor& given, const Extent& extent) {
  if (given.offsets == nullptr) {
    return ArgumentError("offsets is NULL; an array of ", DTypeName(extent.dtype), " needs one more than elements");
  }
  int64_t before = 0;
  for (int64_t i = 0; i <= extent.elements; ++i) {
    const int64_t offset = given.offsets[i];
    if (offset < before || static_cast<uint64_t>(offset) > given.bytes) {
      return ArgumentError("offsets must not decrease, and lie within the ", given.bytes, " bytes; offset ", i, " is ",
                           offset);
    }
    before = offset;
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ViewStrings(const hr_tensor& given, const Extent& extent) {
  if (given.bytes > static_cast<uint64_t>(INT64_MAX)) return ArgumentError("bytes is too large; got ", given.bytes);
  if (given.data == nullptr && given.bytes > 0) return ArgumentError("data is NULL, and bytes is ", given.bytes);
  if (given.axes == 0 && given.offsets != nullptr) return ArgumentError("offsets must be NULL for a single value");
  if (given.axes > 0) HEADRACE_RETURN_IF_ERROR(CheckOffsets(given, extent));
  HEADRACE_ASSIGN_OR_RETURN(BufferRef bytes, Borrow(Start(given), given.bytes));
  if (given.axes == 0) return Tensor::ViewBytes(extent.dtype, std::move(bytes), Start(given), given.bytes);
  const size_t table = (static_cast<size_t>(extent.elements) + 1) * sizeof(int64_t);
  HEADRACE_ASSIGN_OR_RETURN(BufferRef ends, Borrow(given.offsets, table));
  return Tensor::ViewBytesArray(extent.dtype, extent.shape, std::move(bytes), std::move(ends));
}

}  // namespace

absl::Status CheckTensorSize(const hr_tensor& given) {
  if (given.size == sizeof(hr_tensor)) return absl::OkStatus();
  return ArgumentError("size must be sizeof(hr_tensor), which is ", sizeof(hr_tensor), " here; got ", given.size);
}

absl::StatusOr<Tensor> ViewInput(const hr_tensor& given) {
  HEADRACE_ASSIGN_OR_RETURN(const Extent extent, ExtentOf(given));
  if (IsVariableLength(extent.dtype)) return ViewStrings(given, extent);
  HEADRACE_ASSIGN_OR_RETURN(Tensor tensor, ViewNumbers(given, extent));
  if (extent.dtype == DType::kBool) HEADRACE_RETURN_IF_ERROR(CheckBools(tensor));
  return tensor;
}

absl::StatusOr<std::optional<Tensor>> ViewSlot(const hr_tensor& given) {
  HEADRACE_RETURN_IF_ERROR(CheckTensorSize(given));
  if (given.data == nullptr) return std::nullopt;
  HEADRACE_ASSIGN_OR_RETURN(const Extent extent, ExtentOf(given));
  if (IsVariableLength(extent.dtype)) {
    return ArgumentError("data must be NULL for ", DTypeName(extent.dtype), ", whose length is not known before");
  }
  HEADRACE_ASSIGN_OR_RETURN(Tensor tensor, ViewNumbers(given, extent));
  return std::optional<Tensor>(std::move(tensor));
}

}  // namespace headrace::capi
