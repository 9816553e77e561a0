#include "io/formats/text/headed_lines.h"

#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/formats/pending_read.h"

namespace headrace {
namespace {

constexpr std::string_view kHeadedLinesByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kLongestEnd = "\r\n";
// Enough for most headers.
constexpr size_t kHeaderBytes = 4096;

// Whether a file that begins with these bytes has the header; they are all that it needs, or the whole file.
bool BeginsWith(std::string_view bytes, std::string_view header) {
  if (bytes.substr(0, kHeadedLinesByteOrderMark.size()) == kHeadedLinesByteOrderMark)
    bytes.remove_prefix(kHeadedLinesByteOrderMark.size());
  if (bytes.substr(0, header.size()) != header) return false;
  const std::string_view end = bytes.substr(header.size(), kLongestEnd.size());
  return end.empty() || end[0] == '\n' || end == kLongestEnd || end == "\r";
}

}  // namespace

class HeadedLines::Reader : public RecordReader {
 public:
  // `first`: the file's first bytes; null: they are the first ones of `lines`.
  Reader(const HeadedLines* format, std::string path, std::unique_ptr<RecordReader> lines,
         std::shared_ptr<PendingRead> first)
      : format_(format), path_(std::move(path)), lines_(std::move(lines)), first_(std::move(first)) {}

  absl::Status Next(RecordBlock& block) override {
    if (first_ != nullptr) HEADRACE_RETURN_IF_ERROR(CheckFirst());
    HEADRACE_RETURN_IF_ERROR(lines_->Next(block));
    if (block.records.empty() || block.records[0].offset > 0) return absl::OkStatus();
    if (block.content(0) != format_->header_) return format_->OtherHeader(path_);
    block.records.erase(block.records.begin());
    // Without a record the split would seem to end here.
    return block.records.empty() ? lines_->Next(block) : absl::OkStatus();
  }
  int64_t offset() const override { return lines_->offset(); }
  int64_t file_size() const override { return lines_->file_size(); }

 private:
  absl::Status CheckFirst() {
    const std::shared_ptr<PendingRead> read = std::exchange(first_, nullptr);
    HEADRACE_ASSIGN_OR_RETURN(const int64_t got, read->Wait());
    const auto* const bytes = reinterpret_cast<const char*>(read->buffer()->data());
    const bool good = got == 0 || BeginsWith({bytes, static_cast<size_t>(got)}, format_->header_);
    return good ? absl::OkStatus() : format_->OtherHeader(path_);
  }

  const HeadedLines* const format_;
  const std::string path_;
  const std::unique_ptr<RecordReader> lines_;
  std::shared_ptr<PendingRead> first_;
};

absl::Status HeadedLines::OtherHeader(const std::string& path) const {
  absl::Status status = BeyondRow(DataError("the file does not begin with the header of ", of_,
                                            "; files that are read together begin with the same line"));
  AddErrorField(status, ErrorField::kFile, Cat(path, ", byte 0"));
  return status;
}

absl::StatusOr<std::optional<std::string>> HeadedLines::HeaderOf(const FileSystem& files, const std::string& path,
                                                                 std::optional<char> quote) {
  const LineFormat lines(LineFormat::kLongest, quote);
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<RecordReader> reader,
                            lines.Open(files, path, {0, 1}, 0, kHeaderBytes));
  RecordBlock block;
  HEADRACE_RETURN_IF_ERROR(reader->Next(block));
  if (block.records.empty()) return std::nullopt;
  return std::string(block.content(0));
}

absl::StatusOr<std::shared_ptr<PendingRead>> HeadedLines::StartFirst(const FileSystem& files,
                                                                     const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  const size_t bytes = kHeadedLinesByteOrderMark.size() + header_.size() + kLongestEnd.size();
  return PendingRead::Start(std::move(file), 0, 0, bytes);
}

absl::Status HeadedLines::CheckCompressed(const FileSystem& files, const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<std::string> header, HeaderOf(files, path, quote_));
  return !header.has_value() || *header == header_ ? absl::OkStatus() : OtherHeader(path);
}

absl::StatusOr<std::unique_ptr<RecordReader>> HeadedLines::Open(const FileSystem& files, const std::string& path,
                                                                const Split& split, int64_t from,
                                                                size_t block_bytes) const {
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<RecordReader> lines, lines_.Open(files, path, split, from, block_bytes));
  if (from == 0) return std::make_unique<Reader>(this, path, std::move(lines), nullptr);
  bool compressed = false;
  if (split.begin == 0) {
    HEADRACE_ASSIGN_OR_RETURN(compressed, IsOneSplit(files, path));
  }
  if (compressed) {
    HEADRACE_RETURN_IF_ERROR(CheckCompressed(files, path));
    return lines;
  }
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<PendingRead> first, StartFirst(files, path));
  return std::make_unique<Reader>(this, path, std::move(lines), std::move(first));
}

}  // namespace headrace
