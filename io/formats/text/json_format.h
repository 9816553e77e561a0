// `JsonFormat` reads the objects of files of JSON: one a line, or the elements of one array, which is the whole file.
// The first byte that is no space shows it: a line of JSON lines is an object, so a file that begins with a bracket is
// an array, which is read from its start on, in one split. Either may be compressed by gzip or zstd.
// Threads: immutable.
#ifndef HEADRACE_IO_FORMATS_TEXT_JSON_FORMAT_H_
#define HEADRACE_IO_FORMATS_TEXT_JSON_FORMAT_H_

#include <cstddef>
#include <memory>
#include <string>

#include "io/formats/text/json_array.h"
#include "io/formats/text/line_format.h"

namespace headrace {

class JsonFormat : public Format {
 public:
  // kData for a line or an element of more than `longest` bytes.
  explicit JsonFormat(size_t longest = LineFormat::kLongest) : lines_(longest), array_(longest) {}

  PartBorders part_borders() const override { return lines_.part_borders(); }
  absl::StatusOr<bool> IsOneSplit(const FileSystem& files, const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<RecordReader>> Open(const FileSystem& files, const std::string& path,
                                                     const Split& split, int64_t from,
                                                     size_t block_bytes) const override;

 private:
  class Either;
  class Reader;

  const LineFormat lines_;
  const JsonArray array_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TEXT_JSON_FORMAT_H_
