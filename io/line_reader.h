// A text file's lines, one after the other, without holding more of it than a chunk. A line ends at \n or \r\n, which
// are no part of it; the last needs none; empty lines count. Each line is a view of a pooled chunk, so nothing is
// copied but a line that crosses two chunks. Thread contract: belongs to one thread at a time; the tensors it gives out
// are free.
#ifndef HEADRACE_IO_LINE_READER_H_
#define HEADRACE_IO_LINE_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "io/file_system.h"

namespace headrace {

struct LineReaderOptions {
  int64_t chunk_bytes = int64_t{64} << 10;      // a longer line gets a longer chunk
  int64_t max_line_bytes = int64_t{256} << 20;  // beyond: kData, for that is hardly text
};

struct Line {
  Tensor text;         // kString, shape ()
  int64_t offset = 0;  // of its first byte in the file
  int64_t number = 0;  // counted on from the reader's first
};

class LineReader {
 public:
  // Begins at byte `offset`, which must be a line's first (0, or as Next gave it) and is line `number`, from 0 on.
  // A byte order mark at the file's beginning is left out.
  static absl::StatusOr<std::unique_ptr<LineReader>> Open(const FileSystem& files, const std::string& path,
                                                          int64_t offset = 0, int64_t number = 0,
                                                          const LineReaderOptions& options = {});

  // False at the file's end. After an error the reader stands where it stood.
  absl::StatusOr<bool> Next(Line& line);
  // Passes over a line without looking at its bytes; false at the file's end.
  absl::StatusOr<bool> Skip();

  // Where the next line begins, and its number.
  int64_t offset() const { return chunk_offset_ + static_cast<int64_t>(begin_); }
  int64_t number() const { return number_; }

 private:
  LineReader(std::unique_ptr<File> file, std::string path, int64_t offset, int64_t number,
             const LineReaderOptions& options)
      : file_(std::move(file)), path_(std::move(path)), options_(options), chunk_offset_(offset), number_(number) {}

  // Sets `bytes` to the length of the next line and `taken` to that with its end.
  absl::StatusOr<bool> FindLine(size_t& bytes, size_t& taken);
  // Gets more of the file behind what is unread.
  absl::Status Refill();
  absl::Status NotUtf8(std::string_view line, size_t at) const;
  std::string Where() const;

  std::unique_ptr<File> file_;
  std::string path_;
  LineReaderOptions options_;
  BufferRef chunk_;
  int64_t chunk_offset_;  // of the chunk's first byte in the file
  size_t begin_ = 0;      // of the next line, within the chunk
  size_t end_ = 0;        // of what was read into the chunk
  bool file_ended_ = false;
  int64_t number_;
};

// The first byte that is not UTF-8; text.size() where all is.
size_t FirstNotUtf8(std::string_view text);

}  // namespace headrace

#endif  // HEADRACE_IO_LINE_READER_H_
