// `ParseNpy` reads an array as numpy.save writes it (.npy, versions 1.0 to 3.0): numbers and bools of any shape and
// byte order, in C's or Fortran's order. Pickled objects are never read. Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_NPY_NPY_ARRAY_H_
#define HEADRACE_IO_FORMATS_NPY_NPY_ARRAY_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "core/dtype.h"
#include "core/tensor.h"

namespace headrace {

struct NpyArray {
  DType dtype = DType::kUnknown;
  Shape shape;
  bool swapped = false;   // its numbers are big-endian
  bool fortran = false;   // the first axis is the one that changes fastest
  std::string_view data;  // of all elements
};

// A view of the bytes; what follows the array is left out. kData: they are no such array, end before it does, or hold
// what is neither a number nor a bool.
absl::StatusOr<NpyArray> ParseNpy(std::string_view bytes);

// Copies the elements, row-major and in the machine's byte order, to `target`.
void CopyNpy(const NpyArray& array, void* target);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_NPY_NPY_ARRAY_H_
