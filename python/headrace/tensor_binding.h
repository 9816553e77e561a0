// Tensors to NumPy arrays and back, sharing memory where that is safe.
// Thread contract: with the GIL held.
#ifndef HEADRACE_PYTHON_HEADRACE_TENSOR_BINDING_H_
#define HEADRACE_PYTHON_HEADRACE_TENSOR_BINDING_H_

#include <pybind11/pybind11.h>

#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "core/tensor.h"

namespace headrace::python {

enum class Access {
  kReadOnly,
  kWhereAlone,  // writable where nobody else holds the memory
};

// How byte strings are given out.
enum class Bytes {
  kCopied,  // as bytes
  kViewed,  // as read-only memoryviews, which share the tensor's memory and keep it
};

// Numbers: an array that shares the tensor's memory and keeps it alive. One byte string: bytes, or a view of
// it; one string: str; arrays of them: object arrays. Raises UnsupportedError for bfloat16 where ml_dtypes is not
// installed.
pybind11::object ArrayOf(const Tensor& tensor, Access access, Bytes bytes = Bytes::kCopied);

// An object with __dlpack__ and __dlpack_device__ over the tensor's memory; for byte strings and strings as ArrayOf.
pybind11::object DLPackOf(const Tensor& tensor, Bytes bytes);

enum class Sharing {
  kAlways,      // the user promises not to change it
  kWhereAlone,  // where the value given is the only reference to memory of its own
};

// Of arrays, numbers, bytes, str, and what numpy.asarray takes. What is copied is allocated by `output` where one is
// given. Raises Python exceptions.
Tensor TensorOf(pybind11::object value, Sharing sharing);
Tensor TensorOf(pybind11::object value, Sharing sharing, OutputAllocator& output);

void BindTensors(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HEADRACE_TENSOR_BINDING_H_
