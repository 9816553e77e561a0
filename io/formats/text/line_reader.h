// Reads the lines of one text file in order, from any byte on, through a buffer that grows with the longest line. A
// line ends with \n or \r\n, or with the file; a byte order mark at the file's start is left out. The bytes need not be
// text. A file whose size changes after it was opened is an error (kData).
// Thread contract: used by one thread at a time.
#ifndef HEADRACE_IO_FORMATS_TEXT_LINE_READER_H_
#define HEADRACE_IO_FORMATS_TEXT_LINE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"

namespace headrace {

class LineReader {
 public:
  static constexpr size_t kLongestLine = 256 << 20;

  // `offset` is the start of a line: 0, or a result of offset(). kData if the file ends before it.
  static absl::StatusOr<std::unique_ptr<LineReader>> Open(const FileSystem& files, const std::string& path,
                                                          uint64_t offset, size_t longest_line = kLongestLine);

  // Of the file, in bytes.
  uint64_t size() const { return size_; }

  // The start of the next line.
  uint64_t offset() const { return offset_; }

  // The next line without its end; valid until the next call. nullopt: the file ends. kData: the line is too long.
  absl::StatusOr<std::optional<std::string_view>> Next();

 private:
  LineReader(std::unique_ptr<File> file, std::string path, uint64_t size, uint64_t offset, size_t longest_line);
  std::string_view Take(std::string_view line, size_t bytes);
  absl::Status ReadMore();

  const std::unique_ptr<File> file_;
  const std::string path_;
  const uint64_t size_;
  const size_t longest_line_;
  uint64_t offset_;
  std::string buffer_;  // from begin_: the bytes of the file from offset_ on
  size_t begin_ = 0;
  bool at_end_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TEXT_LINE_READER_H_
