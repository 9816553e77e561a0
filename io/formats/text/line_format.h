// `LineFormat` reads lines of text. A line ends with \n or \r\n, or with the file; its content is without that end, and
// a byte order mark at the file's start is left out; a file of a mark alone has no line. The bytes need not be text.
// With a quote, a line end after an odd number of quotes of its line is part of the line; where a line begins then
// follows from all bytes before it, so files are read from their start on, in one split. So are files that are
// compressed by gzip or zstd (io/formats/text/text_reader.h): their lines are those of the bytes that they hold.
// Threads: immutable.
#ifndef HEADRACE_IO_FORMATS_TEXT_LINE_FORMAT_H_
#define HEADRACE_IO_FORMATS_TEXT_LINE_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/formats/framed_reader.h"

namespace headrace {

// Where the line that begins with `bytes` ends, without its \n; npos: not in them.
size_t FindLineEnd(std::string_view bytes, std::optional<char> quote);
// The content of the line that begins with `bytes`, at byte `offset` of the file. `bytes` hold all of it; if they have
// no line end, the file ends with them.
std::string_view LineOf(std::string_view bytes, int64_t offset, std::optional<char> quote);

class LineFormat : public Format, private Framing {
 public:
  static constexpr size_t kLongest = size_t{256} << 20;
  // kData for a line of more than `longest` bytes. `quote`: line ends within quotes are part of a line.
  explicit LineFormat(size_t longest = kLongest, std::optional<char> quote = std::nullopt)
      : longest_(longest), quote_(quote) {}

  // Cuts lines, for a format whose files may hold something else.
  const Framing& framing() const { return *this; }

  PartBorders part_borders() const override { return {1, true}; }
  // Whether it is compressed.
  absl::StatusOr<bool> IsOneSplit(const FileSystem& files, const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<RecordReader>> Open(const FileSystem& files, const std::string& path,
                                                     const Split& split, int64_t from,
                                                     size_t block_bytes) const override;

 private:
  int64_t looks_behind() const override { return 1; }
  First FindFirst(absl::Span<const uint8_t> bytes, int64_t offset, bool last) const override;
  absl::StatusOr<Piece> Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                            std::vector<Record>& records) const override;

  const size_t longest_;
  const std::optional<char> quote_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TEXT_LINE_FORMAT_H_
