// Fuzzes annotations in VOC's form: all columns of what is read have the same objects.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/formats/voc/voc_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  headrace::VocTable table;
  const absl::Status status = headrace::AddVocXml({reinterpret_cast<const char*>(data), size}, table);
  if (!status.ok()) {
    Require(headrace::KindOf(status) == headrace::ErrorKind::kData, "damage is the file's");
    return 0;
  }
  const size_t objects = table.name.size();
  Require(static_cast<size_t>(table.object_splits.back()) == objects, "all objects are the image's");
  Require(table.boxes.size() == 4 * objects && table.difficult.size() == objects, "objects have all columns");
  Require(table.truncated.size() == objects && table.occluded.size() == objects, "marks too");
  Require(table.width.size() == 1 && table.height.size() == 1 && table.width[0] >= 0, "the image has a size");
  Require(table.part_boxes.size() == 4 * table.part_name.size(), "parts have boxes");
  for (const int64_t object : table.part_object) {
    Require(object >= 0 && static_cast<size_t>(object) < objects, "parts are of objects");
  }
  return 0;
}
