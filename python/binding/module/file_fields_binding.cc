#include "python/binding/module/file_fields_binding.h"

#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/default_file_system.h"
#include "io/files/file_system.h"
#include "io/formats/npy/npy_table.h"
#include "ops/source/arrays/fixed_columns.h"
#include "ops/source/arrays/npz_fields.h"
#include "ops/source/file_patterns.h"
#include "ops/source/mds/mds_fields.h"
#include "ops/source/table_reading.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {
namespace {

using ChosenColumns = std::optional<std::vector<std::string>>;
using FieldTexts = absl::StatusOr<std::vector<std::string>>;

FieldTexts FindNpyFields(const std::vector<std::string>& texts) {
  const FileSystem& files = *DefaultFileSystem();
  HEADRACE_ASSIGN_OR_RETURN(const PathArena matched, MatchInOrder(files, texts, ".npy"));
  const std::vector<std::string> paths = TextsOf(matched);
  HEADRACE_ASSIGN_OR_RETURN(const FixedTable first, MakeNpyTable(files, {paths[0]}));
  return FixedFieldTexts(first.parts()[0].fields);
}

pybind11::list NpyFields(const std::vector<std::string>& texts) {
  return NameTexts(ValueOrRaise(RunForkableInterruptible([&] { return FindNpyFields(texts); })));
}

pybind11::list NpzFields(const std::string& path, const ChosenColumns& columns) {
  return NameTexts(ValueOrRaise(RunForkableInterruptible([&]() -> FieldTexts {
    return FindNpzFieldTexts(*DefaultFileSystem(), path, columns.has_value() ? &*columns : nullptr);
  })));
}

pybind11::list MdsFields(const std::string& path, const ChosenColumns& columns) {
  return NameTexts(ValueOrRaise(RunForkableInterruptible([&]() -> FieldTexts {
    return FindMdsFields(*DefaultFileSystem(), path, columns.has_value() ? &*columns : nullptr);
  })));
}

}  // namespace

void BindFileFields(pybind11::module_& module) {
  module.def("npy_fields", &NpyFields, pybind11::arg("paths"));
  module.def("npz_fields", &NpzFields, pybind11::arg("path"), pybind11::arg("columns"));
  module.def("mds_fields", &MdsFields, pybind11::arg("path"), pybind11::arg("columns"));
}

}  // namespace headrace::python
