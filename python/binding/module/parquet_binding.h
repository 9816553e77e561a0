// `BindParquet` makes pyarrow the library that decodes Parquet files, and binds what the package asks of their names
// before a pipeline reads them.
// Threads: with the GIL held, which is released while folders are listed.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_PARQUET_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_PARQUET_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindParquet(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_PARQUET_BINDING_H_
