// `PyarrowLibrary` decodes Parquet files by pyarrow, which Python imports when a file is first opened. Values go from
// pyarrow's memory to the engine by the Arrow C data interface: none becomes a Python object.
// Threads: as ParquetLibrary's; files and row groups are opened with the GIL, and decoded without it.
#ifndef HEADRACE_PYTHON_BINDING_HOST_PYARROW_LIBRARY_H_
#define HEADRACE_PYTHON_BINDING_HOST_PYARROW_LIBRARY_H_

#include "io/formats/parquet/parquet_library.h"

namespace headrace::python {

const ParquetLibrary* PyarrowLibrary();

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_HOST_PYARROW_LIBRARY_H_
