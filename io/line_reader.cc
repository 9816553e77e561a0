#include "io/line_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

absl::StatusOr<std::unique_ptr<LineReader>> LineReader::Open(const FileSystem& files, const std::string& path,
                                                             int64_t offset, int64_t number,
                                                             const LineReaderOptions& options) {
  if (offset < 0) return InternalError(path, ": a line cannot begin at byte ", offset);
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<File> file, files.Open(path));
  return std::unique_ptr<LineReader>(new LineReader(std::move(file), path, offset, number, options));
}

absl::StatusOr<bool> LineReader::Next(Line& line) {
  size_t bytes = 0;
  size_t taken = 0;
  HEADRACE_ASSIGN_OR_RETURN(const bool found, FindLine(bytes, taken));
  if (!found) return false;
  const char* first = reinterpret_cast<const char*>(chunk_->data()) + begin_;
  std::string_view text(first, bytes);
  if (offset() == 0 && text.substr(0, 3) == kByteOrderMark) text.remove_prefix(3);
  if (const size_t at = FirstNotUtf8(text); at < text.size()) return NotUtf8(text, at);
  line.text = Tensor::ViewBytes(DType::kString, chunk_, text.data(), text.size());
  line.offset = offset();
  line.number = number_;
  begin_ += taken;
  ++number_;
  return true;
}

absl::StatusOr<bool> LineReader::Skip() {
  size_t bytes = 0;
  size_t taken = 0;
  HEADRACE_ASSIGN_OR_RETURN(const bool found, FindLine(bytes, taken));
  if (!found) return false;
  begin_ += taken;
  ++number_;
  return true;
}

absl::StatusOr<bool> LineReader::FindLine(size_t& bytes, size_t& taken) {
  size_t searched = 0;
  while (true) {
    const uint8_t* line = chunk_ ? chunk_->data() + begin_ : nullptr;
    const size_t there = end_ - begin_;
    const void* newline = searched < there ? std::memchr(line + searched, '\n', there - searched) : nullptr;
    if (newline != nullptr) {
      bytes = static_cast<const uint8_t*>(newline) - line;
      taken = bytes + 1;
      if (bytes > 0 && line[bytes - 1] == '\r') --bytes;
      return true;
    }
    if (file_ended_) {
      bytes = taken = there;
      return there > 0;
    }
    searched = there;
    HEADRACE_RETURN_IF_ERROR(Refill());
  }
}

absl::Status LineReader::Refill() {
  const size_t unread = end_ - begin_;
  if (static_cast<int64_t>(unread) > options_.max_line_bytes) {
    return DataError(path_, ", ", Where(), ": a line of more than ", options_.max_line_bytes,
                     " bytes; is this a text file?");
  }
  // Doubles, so that a long line is copied twice at most on the whole. Given out lines keep the old chunk.
  const size_t wanted = std::max<size_t>(std::max<int64_t>(options_.chunk_bytes, 1), 2 * unread);
  BufferRef chunk = BufferPool::Current().Allocate(wanted);
  if (!chunk) return ResourceError("no memory for ", wanted, " bytes of ", path_);
  if (unread > 0) std::memcpy(chunk->data(), chunk_->data() + begin_, unread);
  const absl::Span<uint8_t> target(chunk->data() + unread, wanted - unread);
  HEADRACE_ASSIGN_OR_RETURN(const int64_t read, file_->ReadAt(chunk_offset_ + static_cast<int64_t>(end_), target));
  file_ended_ = read < static_cast<int64_t>(target.size());
  chunk_offset_ += static_cast<int64_t>(begin_);
  begin_ = 0;
  end_ = unread + read;
  chunk_ = std::move(chunk);
  return absl::OkStatus();
}

std::string LineReader::Where() const { return Cat("line ", number_ + 1, " (from byte ", offset(), " on)"); }

absl::Status LineReader::NotUtf8(std::string_view line, size_t at) const {
  const bool utf16 = offset() == 0 && (line.substr(0, 2) == "\xff\xfe" || line.substr(0, 2) == "\xfe\xff");
  const char* first = reinterpret_cast<const char*>(chunk_->data()) + begin_;
  const int64_t in_file = offset() + (line.data() - first) + static_cast<int64_t>(at);
  return DataError(path_, ", ", Where(), ": byte ", in_file, " (0x",
                   absl::Hex(static_cast<unsigned char>(line[at]), absl::kZeroPad2), ") is not UTF-8; ",
                   utf16 ? "the file looks like UTF-16: convert it" : "convert the file to UTF-8");
}

}  // namespace headrace
