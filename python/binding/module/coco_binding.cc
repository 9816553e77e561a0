#include "python/binding/module/coco_binding.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/default_file_system.h"
#include "io/formats/coco/coco_reader.h"
#include "python/binding/module/array_over.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

CocoTask TaskOf(std::string_view name) {
  if (name == "detection") return CocoTask::kDetection;
  if (name == "keypoints") return CocoTask::kKeypoints;
  if (name == "captions") return CocoTask::kCaptions;
  if (name == "panoptic") return CocoTask::kPanoptic;
  throw ValueError("unknown task: ", name);
}

py::list CategoriesOf(const CocoTable& table) {
  py::list categories;
  for (const CocoCategory& each : table.categories) {
    categories.append(py::make_tuple(each.id, NameText(each.name), NameText(each.supercategory), each.is_thing,
                                     NameTexts(each.keypoints), each.skeleton));
  }
  return categories;
}

py::dict DoubtsOf(const CocoDoubts& doubts) {
  py::dict found;
  found["boxes_outside"] = doubts.boxes_outside;
  found["boxes_empty"] = doubts.boxes_empty;
  found["outlines_empty"] = doubts.outlines_empty;
  found["areas_missing"] = doubts.areas_missing;
  found["images_without"] = doubts.images_without;
  found["first_outside"] = NameText(doubts.first_outside);
  found["first_empty"] = NameText(doubts.first_empty);
  return found;
}

py::dict ReadColumns(const std::string& path, const std::string& task_name) {
  const CocoTask task = TaskOf(task_name);
  CocoTable table = ValueOrRaise(RunForkableInterruptible([&] { return ReadCoco(*DefaultFileSystem(), path, task); }));
  const auto objects = static_cast<py::ssize_t>(table.area.size());
  const auto points = static_cast<py::ssize_t>(table.keypoint_count);
  py::dict columns;
  columns["categories"] = CategoriesOf(table);
  columns["doubts"] = DoubtsOf(table.doubts);
  columns["bytes"] = table.bytes;
  columns["checksum"] = table.checksum;
  columns["file_name"] = NameTexts(table.file_name);
  columns["segments_file"] = NameTexts(table.segments_file);
  columns["captions"] = NameTexts(table.captions);
  columns["image_id"] = ArrayOver(std::move(table.image_id));
  columns["height"] = ArrayOver(std::move(table.height));
  columns["width"] = ArrayOver(std::move(table.width));
  columns["object_splits"] = ArrayOver(std::move(table.object_splits));
  columns["object_id"] = ArrayOver(std::move(table.object_id));
  columns["category"] = ArrayOver(std::move(table.category));
  columns["is_crowd"] = ArrayOver(std::move(table.is_crowd));
  columns["area"] = ArrayOver(std::move(table.area));
  columns["boxes"] = ArrayOver(std::move(table.boxes), {objects, 4});
  columns["keypoints"] = ArrayOver(std::move(table.keypoints), {points == 0 ? 0 : objects, points, 2});
  columns["visibility"] = ArrayOver(std::move(table.visibility), {points == 0 ? 0 : objects, points});
  columns["outlines"] = ArrayOver(std::move(table.outlines));
  columns["outline_splits"] = ArrayOver(std::move(table.outline_splits));
  return columns;
}

}  // namespace

void BindCoco(py::module_& module) { module.def("read_coco", &ReadColumns, py::arg("path"), py::arg("task")); }

}  // namespace headrace::python
