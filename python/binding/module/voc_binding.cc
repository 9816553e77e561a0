#include "python/binding/module/voc_binding.h"

#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/default_file_system.h"
#include "io/formats/voc/voc_reader.h"
#include "python/binding/module/array_over.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {
namespace {

pybind11::dict ReadObjects(const std::vector<std::string>& paths) {
  VocTable table = ValueOrRaise(RunForkableInterruptible([&] { return ReadVoc(*DefaultFileSystem(), paths); }));
  const auto objects = static_cast<pybind11::ssize_t>(table.name.size());
  const auto parts = static_cast<pybind11::ssize_t>(table.part_name.size());
  pybind11::dict columns;
  columns["object_splits"] = ArrayOver(std::move(table.object_splits));
  columns["name"] = NameTexts(table.name);
  columns["boxes"] = ArrayOver(std::move(table.boxes), {objects, 4});
  columns["difficult"] = ArrayOver(std::move(table.difficult));
  columns["truncated"] = ArrayOver(std::move(table.truncated));
  columns["occluded"] = ArrayOver(std::move(table.occluded));
  columns["width"] = ArrayOver(std::move(table.width));
  columns["height"] = ArrayOver(std::move(table.height));
  columns["part_splits"] = ArrayOver(std::move(table.part_splits));
  columns["part_name"] = NameTexts(table.part_name);
  columns["part_boxes"] = ArrayOver(std::move(table.part_boxes), {parts, 4});
  columns["part_object"] = ArrayOver(std::move(table.part_object));
  columns["bytes"] = table.bytes;
  columns["checksum"] = table.checksum;
  return columns;
}

}  // namespace

void BindVoc(pybind11::module_& module) { module.def("read_voc", &ReadObjects, pybind11::arg("paths")); }

}  // namespace headrace::python
