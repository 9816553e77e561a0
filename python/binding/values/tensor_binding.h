// `BindTensors` binds tensors; `ArrayOf` and `TensorOf` convert them to NumPy arrays and back, sharing memory where
// that is safe.
// Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_TENSOR_BINDING_H_
#define HEADRACE_PYTHON_BINDING_VALUES_TENSOR_BINDING_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "core/strided_array.h"
#include "core/tensor.h"
#include "engine/device/device_ring.h"

namespace headrace::python {

enum class Access {
  kReadOnly,
  kWhereAlone,  // writable if nothing else holds the memory
};

// The Python type of byte strings.
enum class Bytes {
  kCopied,  // as bytes
  kViewed,  // as read-only memoryviews, which share the tensor's memory and keep it
};

// For numbers: an array that shares the tensor's memory and keeps it alive. For one byte string: bytes, or a view of
// it; for one string: str; for arrays of them: object arrays. Raises UnsupportedError for bfloat16 if ml_dtypes is not
// installed.
pybind11::object ArrayOf(const Tensor& tensor, Access access, Bytes bytes = Bytes::kCopied);

// An object with __dlpack__ and __dlpack_device__ over the tensor's memory; for byte strings and strings as ArrayOf.
// `batch`: what the tensor is part of, if it is on a device; null: it is not.
pybind11::object DLPackOf(const Tensor& tensor, Bytes bytes, const std::shared_ptr<DeviceBatch>& batch = nullptr);

enum class Sharing {
  kAlways,      // the user promises not to change it
  kWhereAlone,  // if the given value is the only reference to its own memory
};

// From arrays, numbers, bytes, str, and everything that ExactArray takes. Copies are allocated by `output` if it is
// given. Raises Python exceptions.
Tensor TensorOf(pybind11::object value, Sharing sharing);
Tensor TensorOf(pybind11::object value, Sharing sharing, OutputAllocator& output);

// As TensorOf, with byte strings viewed and not copied: the caller keeps `value` as long as the tensor.
Tensor ViewOf(pybind11::handle value);

// The elements of a NumPy array where they lie; nullopt: it is row-major, or holds something other than numbers
// in the machine's byte order. Keeps the array. Raises Python exceptions.
std::optional<StridedArray> StridedOf(pybind11::object value);

// A tensor over the memory of an array, to be written into: the caller keeps the array as long as the tensor. Raises
// GraphError unless it is a writable array of NumPy's, row-major and in the machine's byte order.
Tensor SlotOver(pybind11::handle array);

void BindTensors(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_TENSOR_BINDING_H_
