// Fuzzes the payload of an image record: it is its header, its labels and its image, end to end.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/testing/require.h"
#include "io/formats/recordio/image_record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view payload(reinterpret_cast<const char*>(data), size);
  const auto record = headrace::ParseImageRecord(payload);
  if (!record.ok()) return 0;
  std::vector<float> labels(record->labels());
  record->CopyLabels(labels.data());
  headrace::FaceSetHeaderOf(*record);
  std::string again;
  if (record->header.flag == 0) labels.clear();
  headrace::AppendImageRecordHeader(record->header, labels, again);
  again += record->image;
  headrace::Require(again == payload, "a record is written as it was read");
  return 0;
}
