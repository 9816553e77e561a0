// `DLTensor` and its neighbours are DLPack 1.0: the C structs by which array libraries share memory
// (github.com/dmlc/dlpack). `DLTypeOf` is an element type there.
// Threads: plain data, and a pure function.
#ifndef HEADRACE_CORE_DLPACK_H_
#define HEADRACE_CORE_DLPACK_H_

#include <cstdint>

#include "core/dtype.h"

extern "C" {

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

}  // extern "C"

namespace headrace {

inline constexpr int32_t kDLCPU = 1;
inline constexpr int32_t kDLCUDA = 2;
inline constexpr uint64_t kDLPackReadOnly = 1;
enum DLTypeCode : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };

// Of a type that is not variable in length: DLPack has no strings.
inline DLDataType DLTypeOf(DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * ItemSize(dtype));
  if (dtype == DType::kBool) return {kDLBool, 8, 1};
  if (dtype == DType::kBFloat16) return {kDLBfloat, 16, 1};
  if (IsFloating(dtype)) return {kDLFloat, bits, 1};
  return {dtype >= DType::kUInt8 ? kDLUInt : kDLInt, bits, 1};
}

}  // namespace headrace

#endif  // HEADRACE_CORE_DLPACK_H_
