// `ReadVoc` reads files of annotations in Pascal VOC's form into columns of objects, file after file; `AddVocXml` one.
// Files of far stores are asked for ahead.
// Threads: reads on the calling thread; any thread.
#ifndef HEADRACE_IO_FORMATS_VOC_VOC_READER_H_
#define HEADRACE_IO_FORMATS_VOC_VOC_READER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"

namespace headrace {

struct VocTable {
  // Objects of image i are those from object_splits[i] to before object_splits[i + 1].
  std::vector<int64_t> object_splits = {0};
  std::vector<std::string> name;
  std::vector<double> boxes;  // four each: xmin, ymin, xmax, ymax, as in the file
  std::vector<uint8_t> difficult;
  std::vector<uint8_t> truncated;
  std::vector<uint8_t> occluded;
  // Of each image, as its file says; 0 where it does not.
  std::vector<double> width;
  std::vector<double> height;
  // Parts of objects, such as the head of a person, with the number of their object within the image.
  std::vector<int64_t> part_splits = {0};
  std::vector<std::string> part_name;
  std::vector<double> part_boxes;
  std::vector<int64_t> part_object;
  // Of all files: how many bytes they have, and their CRC-32C end to end.
  int64_t bytes = 0;
  uint32_t checksum = 0;
};

// Adds the objects of one image. kData: XML that is damaged, or an object without a name or a box.
absl::Status AddVocXml(std::string_view xml, VocTable& table);

// Those of each file. The error names the file. Looks at StopSignal.
absl::StatusOr<VocTable> ReadVoc(const FileSystem& files, absl::Span<const std::string> paths);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_VOC_VOC_READER_H_
