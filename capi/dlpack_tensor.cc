#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "capi/call_status.h"
#include "capi/given_output.h"
#include "capi/viewed_tensor.h"
#include "core/dlpack.h"
#include "core/error.h"

namespace headrace::capi {
namespace {

std::optional<DType> DTypeOfDl(DLDataType type) {
  for (int number = HR_BOOL; number <= HR_FLOAT64; ++number) {
    const auto dtype = static_cast<DType>(number);
    const DLDataType own = DLTypeOf(dtype);
    if (own.code == type.code && own.bits == type.bits && own.lanes == type.lanes) return dtype;
  }
  return std::nullopt;
}

bool IsRowMajor(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  const absl::Span<const int64_t> shape(tensor.shape, static_cast<size_t>(tensor.ndim));
  // The strides of no elements mean nothing.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
  int64_t expected = 1;
  for (int axis = tensor.ndim - 1; axis >= 0; --axis) {
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected) return false;
    if (__builtin_mul_overflow(expected, tensor.shape[axis], &expected)) return false;
  }
  return true;
}

absl::Status ViewDl(const DLTensor& given, hr_tensor& tensor) {
  if (given.device.device_type != kDLCPU) {
    return ArgumentError("the tensor must be in the host's memory; its DLPack device is ", given.device.device_type);
  }
  if (given.ndim < 0 || given.ndim > HR_MOST_AXES) {
    return ArgumentError("ndim must be 0 to ", HR_MOST_AXES, "; got ", given.ndim);
  }
  if (given.shape == nullptr && given.ndim > 0) return ArgumentError("shape is NULL");
  const std::optional<DType> dtype = DTypeOfDl(given.dtype);
  if (!dtype) {
    return ArgumentError("this element type is not supported; its DLPack code is ", static_cast<int>(given.dtype.code),
                         ", with ", static_cast<int>(given.dtype.bits), " bits and ",
                         static_cast<int>(given.dtype.lanes), " lanes");
  }
  if (!IsRowMajor(given)) return ArgumentError("the tensor must be row-major and without gaps: copy it");
  hr_tensor view = {};
  view.size = sizeof view;
  view.dtype = static_cast<int32_t>(*dtype);
  view.axes = given.ndim;
  if (given.ndim > 0) std::copy(given.shape, given.shape + given.ndim, view.shape);
  view.data = given.data == nullptr ? nullptr : static_cast<uint8_t*>(given.data) + given.byte_offset;
  uint64_t bytes = ItemSize(*dtype);
  for (int axis = 0; axis < given.ndim; ++axis) {
    if (given.shape[axis] < 0 || __builtin_mul_overflow(bytes, given.shape[axis], &bytes)) {
      return ArgumentError("shape cannot be: its axis ", axis, " has the length ", given.shape[axis]);
    }
  }
  view.bytes = bytes;
  tensor = view;
  return absl::OkStatus();
}

// What a consumer of DLPack holds.
struct Lent {
  explicit Lent(const Tensor& output) : shape(output.shape().begin(), output.shape().end()) {
    auto* const data = const_cast<uint8_t*>(output.raw());
    managed.dl_tensor = {data, {kDLCPU, 0}, output.rank(), DLTypeOf(output.dtype()), shape.data(), nullptr, 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) { delete static_cast<Lent*>(self->manager_ctx); };
  }

  std::vector<int64_t> shape;
  DLManagedTensor managed = {};
  std::unique_ptr<Tensor> tensor;
};

absl::Status LendDl(hr_tensor& tensor, DLManagedTensor** managed) {
  HEADRACE_RETURN_IF_ERROR(CheckTensorSize(tensor));
  if (tensor.owner == nullptr) return ArgumentError("the tensor has no memory that the library allocated");
  const Tensor& owned = *static_cast<const Tensor*>(tensor.owner);
  if (IsVariableLength(owned.dtype())) {
    return UnsupportedError("DLPack has no element type for ", DTypeName(owned.dtype()));
  }
  auto lent = std::make_unique<Lent>(owned);
  lent->tensor = TakeOwned(tensor);
  *managed = &lent.release()->managed;
  return absl::OkStatus();
}

}  // namespace
}  // namespace headrace::capi

hr_status* hr_from_dlpack(const DLManagedTensor* managed, hr_tensor* tensor) {
  using headrace::capi::ArgumentError;
  return headrace::capi::Guarded([&]() -> absl::Status {
    if (managed == nullptr) return ArgumentError("managed is NULL");
    if (tensor == nullptr) return ArgumentError("tensor is NULL");
    HEADRACE_RETURN_IF_ERROR(headrace::capi::CheckTensorSize(*tensor));
    return headrace::capi::ViewDl(managed->dl_tensor, *tensor);
  });
}

hr_status* hr_to_dlpack(hr_tensor* tensor, DLManagedTensor** managed) {
  using headrace::capi::ArgumentError;
  return headrace::capi::Guarded([&]() -> absl::Status {
    if (tensor == nullptr) return ArgumentError("tensor is NULL");
    if (managed == nullptr) return ArgumentError("managed is NULL");
    *managed = nullptr;
    return headrace::capi::LendDl(*tensor, managed);
  });
}
