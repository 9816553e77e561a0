#include "python/binding/module/parquet_binding.h"

#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "core/dtype.h"
#include "io/files/default_file_system.h"
#include "io/formats/parquet/parquet_library.h"
#include "ops/source/parquet/hive_folders.h"
#include "ops/source/parquet/read_footers.h"
#include "python/binding/host/pyarrow_library.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

// The first file, and the columns that its folders give: [(name, dtype, shape)].
py::tuple ParquetFilesOf(const std::vector<std::string>& texts) {
  const PathArena paths =
      ValueOrRaise(RunForkableInterruptible([&] { return MatchParquet(*DefaultFileSystem(), texts); }));
  py::list columns;
  for (const auto& [name, dtype] : FolderColumns(paths)) {
    columns.append(py::make_tuple(NameText(name), NameText(DTypeName(dtype)), py::tuple()));
  }
  return py::make_tuple(NameText(paths[0]), columns);
}

}  // namespace

void BindParquet(py::module_& module) {
  SetParquetLibrary(PyarrowLibrary());
  module.def("parquet_files", &ParquetFilesOf, py::arg("paths"));
}

}  // namespace headrace::python
