// `SharedBatchOf` makes the Python object of a batch that follows the Arrow PyCapsule interface: libraries of columns
// take it over without a copy. Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_SHARED_BATCH_H_
#define HEADRACE_PYTHON_BINDING_VALUES_SHARED_BATCH_H_

#include <pybind11/pybind11.h>

#include <vector>

#include "core/tensor.h"
#include "ir/type.h"

namespace headrace::python {

// Of the columns of a result. Columns of values and splits become one column of lists. Raises UnsupportedError for rows
// that are no batch, and for dtypes that Arrow lacks.
pybind11::object SharedBatchOf(const ir::Schema& schema, const std::vector<Tensor>& columns);

void BindSharedBatches(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_SHARED_BATCH_H_
