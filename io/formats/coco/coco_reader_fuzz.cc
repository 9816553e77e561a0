// Fuzzes files of annotations: the first byte says for which task. What is read refers only to what there is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/error.h"
#include "core/outline_bytes.h"
#include "core/testing/require.h"
#include "io/formats/coco/coco_reader.h"
#include "io/formats/json/testing/text_bytes.h"

namespace {

using headrace::CocoTable;
using headrace::CocoTask;
using headrace::Require;

void CheckOutlines(const CocoTable& table, size_t image) {
  const auto begin = static_cast<size_t>(table.outline_splits[image]);
  const auto end = static_cast<size_t>(table.outline_splits[image + 1]);
  headrace::OutlineReader reader({reinterpret_cast<const char*>(table.outlines.data()) + begin, end - begin});
  Require(reader.ReadHead().ok(), "outlines have a head");
  Require(reader.objects() == table.object_splits[image + 1] - table.object_splits[image], "one for each object");
  headrace::Outline outline;
  for (int64_t i = 0; i < reader.objects(); ++i) Require(reader.ReadOutline(outline).ok(), "outlines can be read");
  Require(reader.CheckEnd().ok(), "and nothing follows");
}

void CheckTable(const CocoTable& table, CocoTask task) {
  const size_t images = table.image_id.size();
  const size_t objects = table.object_id.size();
  Require(table.file_name.size() == images && table.object_splits.size() == images + 1, "images have all columns");
  Require(static_cast<size_t>(table.object_splits.back()) == objects, "all objects are of images");
  Require(std::is_sorted(table.object_splits.begin(), table.object_splits.end()), "in their order");
  if (task == CocoTask::kCaptions) return Require(table.captions.size() == objects, "captions are texts");
  for (const int64_t category : table.category) {
    Require(category >= 0 && static_cast<size_t>(category) < table.categories.size(), "categories are listed");
  }
  Require(table.boxes.size() == 4 * objects && table.area.size() == objects, "objects have all columns");
  const size_t points = objects * static_cast<size_t>(table.keypoint_count);
  Require(table.keypoints.size() == 2 * points && table.visibility.size() == points, "keypoints too");
  if (task == CocoTask::kPanoptic) return;
  for (size_t i = 0; i < images; ++i) CheckOutlines(table, i);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto task = static_cast<CocoTask>(data[0] % 4);
  const std::string text(data + 1, data + size);
  const size_t most = data[0] % 8 < 4 ? 3 : size;
  const auto table = headrace::ReadCocoStream(std::make_unique<headrace::fixture::TextBytes>(text, most), task, 4096);
  if (table.ok()) {
    CheckTable(*table, task);
  } else {
    Require(headrace::KindOf(table.status()) == headrace::ErrorKind::kData, "damage is the file's");
  }
  return 0;
}
