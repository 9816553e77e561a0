// `RowOf` turns what user code gives for a row into the tensors of its columns.
// Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_HOST_USER_ROW_H_
#define HEADRACE_PYTHON_BINDING_HOST_USER_ROW_H_

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/output_allocator.h"
#include "core/tensor.h"

namespace headrace::python {

// The values of a tuple or list, taken out of it, so that an array without other references is held only here. Raises
// Python exceptions.
std::vector<Tensor> TensorsOfTuple(pybind11::object tuple, OutputAllocator& output);

// The form of the rows that a source gives.
struct __attribute__((visibility("hidden"))) RowForm {
  std::string source;  // by which errors name it
  std::vector<std::string> columns;
  // Rows as of a torch Dataset: a dict may have further keys, a list stands for a tuple, and Pillow's images become
  // uint8 of shape (H, W, C).
  bool of_dataset = false;
};

// From a dict, a tuple in the order of the columns, or one value for one column. kGraph, naming the source, if it is
// none of these; raises Python exceptions of values that are no arrays.
absl::Status RowOf(pybind11::object value, const RowForm& form, std::vector<Tensor>& row);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_HOST_USER_ROW_H_
