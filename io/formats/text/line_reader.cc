#include "io/formats/text/line_reader.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

constexpr size_t kChunk = 256 << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

LineReader::LineReader(std::unique_ptr<File> file, std::string path, uint64_t size, uint64_t offset,
                       size_t longest_line)
    : file_(std::move(file)), path_(std::move(path)), size_(size), longest_line_(longest_line), offset_(offset) {}

absl::StatusOr<std::unique_ptr<LineReader>> LineReader::Open(const FileSystem& files, const std::string& path,
                                                             uint64_t offset, size_t longest_line) {
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<File> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  if (offset > static_cast<uint64_t>(size)) {
    return DataError(path, " has ", size, " bytes, and was to be read on from byte ", offset, ": it was cut off");
  }
  return std::unique_ptr<LineReader>(
      new LineReader(std::move(file), path, static_cast<uint64_t>(size), offset, longest_line));
}

absl::StatusOr<std::optional<std::string_view>> LineReader::Next() {
  size_t searched = 0;
  while (true) {
    const std::string_view rest = std::string_view(buffer_).substr(begin_);
    const size_t end = rest.find('\n', searched);
    if (end != std::string_view::npos) return Take(rest.substr(0, end), end + 1);
    if (at_end_ && rest.empty()) return std::nullopt;
    if (at_end_) return Take(rest, rest.size());
    if (rest.size() > longest_line_) {
      return DataError("a line is longer than ", longest_line_, " bytes; is this a text file?");
    }
    searched = rest.size();
    HEADRACE_RETURN_IF_ERROR(ReadMore());
  }
}

std::string_view LineReader::Take(std::string_view line, size_t bytes) {
  const bool first = offset_ == 0;
  begin_ += bytes;
  offset_ += bytes;
  if (first && line.substr(0, kByteOrderMark.size()) == kByteOrderMark) line.remove_prefix(kByteOrderMark.size());
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

absl::Status LineReader::ReadMore() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const size_t held = buffer_.size();
  // Doubles for long lines, so that they are not searched and copied repeatedly.
  const size_t more = std::max(kChunk, held);
  buffer_.resize(held + more);
  absl::Span<uint8_t> target(reinterpret_cast<uint8_t*>(buffer_.data()) + held, more);
  const absl::StatusOr<int64_t> read = file_->ReadAt(static_cast<int64_t>(offset_ + held), target);
  const size_t got = read.ok() ? static_cast<size_t>(*read) : 0;
  buffer_.resize(held + got);
  at_end_ = got < more;
  HEADRACE_RETURN_IF_ERROR(read.status());
  const uint64_t until = offset_ + held + got;
  if (until <= size_ && (!at_end_ || until == size_)) return absl::OkStatus();
  return SizeChangedError(path_, static_cast<int64_t>(size_), static_cast<int64_t>(until));
}

}  // namespace headrace
