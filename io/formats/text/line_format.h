// Lines of text. A line ends with \n or \r\n, or with the file; its content is without that end, and a byte order mark
// at the file's start is left out. The bytes need not be text.
// Thread contract: immutable.
#ifndef HEADRACE_IO_FORMATS_TEXT_LINE_FORMAT_H_
#define HEADRACE_IO_FORMATS_TEXT_LINE_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/formats/framed_reader.h"

namespace headrace {

// The content of the line that begins with `bytes`, at byte `offset` of the file. `bytes` hold all of it; if they have
// no line end, the file ends with them.
std::string_view LineOf(std::string_view bytes, int64_t offset);

class LineFormat : public Format, private Framing {
 public:
  // kData for a line of more than `longest` bytes.
  explicit LineFormat(size_t longest = size_t{256} << 20) : longest_(longest) {}

  PartBorders part_borders() const override { return {1, true}; }
  absl::StatusOr<std::unique_ptr<RecordReader>> Open(const FileSystem& files, const std::string& path,
                                                     const Split& split, int64_t from,
                                                     size_t block_bytes) const override;

 private:
  int64_t looks_behind() const override { return 1; }
  First FindFirst(absl::Span<const uint8_t> bytes, int64_t offset, bool last) const override;
  absl::StatusOr<Piece> Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                            std::vector<Record>& records) const override;

  const size_t longest_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TEXT_LINE_FORMAT_H_
