#include "io/formats/text/json_format.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/compressed/decompressed_file.h"
#include "io/formats/text/text_reader.h"

namespace headrace {
namespace {

constexpr size_t kJsonHeadBlockBytes = size_t{64} << 10;
// What shows nearly always which of the two a file is.
constexpr size_t kFirstJsonBytes = 64;

// The first bytes of what the file holds, no more than it takes to know whether they begin an array, and at least
// kFirstJsonBytes of them. `read` gives the bytes after those that it gave before.
template <typename Read>
absl::StatusOr<std::vector<uint8_t>> JsonHead(const Read& read) {
  std::vector<uint8_t> head;
  for (const size_t wanted : {kFirstJsonBytes, kJsonArrayBytes}) {
    size_t filled = head.size();
    head.resize(wanted);
    size_t got = 1;
    while (got > 0 && filled < wanted) {
      HEADRACE_ASSIGN_OR_RETURN(got, read(filled, absl::MakeSpan(head).subspan(filled)));
      filled += got;
      // Leaves damage that comes later to the reader of the rows before it.
      if (BeginsJsonArray(absl::MakeSpan(head).first(filled)).has_value()) break;
    }
    head.resize(filled);
    if (filled < wanted || BeginsJsonArray(head).has_value()) break;
  }
  return head;
}

absl::StatusOr<std::vector<uint8_t>> HeadOfPlainJson(const FileSystem& files, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  return JsonHead([&](size_t offset, absl::Span<uint8_t> target) -> absl::StatusOr<size_t> {
    HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file->ReadAt(static_cast<int64_t>(offset), target));
    return static_cast<size_t>(got);
  });
}

absl::StatusOr<bool> HoldsJsonArray(const FileSystem& files, const std::string& path, Compression compression) {
  std::vector<uint8_t> head;
  if (compression == Compression::kNone) {
    HEADRACE_ASSIGN_OR_RETURN(head, HeadOfPlainJson(files, path));
  } else {
    HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<DecompressedFile> held,
                              DecompressedFile::Open(files, path, compression, kJsonHeadBlockBytes));
    HEADRACE_ASSIGN_OR_RETURN(head, JsonHead([&](size_t, absl::Span<uint8_t> target) { return held->Read(target); }));
  }
  return BeginsJsonArray(head).value_or(false);
}

}  // namespace

// Finds out by the first bytes which of the two a file is, and remembers it: belongs to one reader.
class JsonFormat::Either : public Framing {
 public:
  // `array`: which it is; nullopt: it is read from its start on.
  Either(const JsonFormat& format, std::optional<bool> array) : format_(format), array_(array) {}

  int64_t looks_behind() const override { return lines().looks_behind(); }
  First FindFirst(absl::Span<const uint8_t> bytes, int64_t offset, bool last) const override {
    return lines().FindFirst(bytes, offset, last);
  }
  absl::StatusOr<Piece> Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                            std::vector<Record>& records) const override {
    if (!array_.has_value()) array_ = BeginsJsonArray(bytes);
    if (!array_.has_value() && last) array_ = false;
    if (!array_.has_value()) return Piece{};
    const Framing& framing = *array_ ? format_.array_ : lines();
    return framing.Cut(bytes, offset, stop, last, records);
  }

 private:
  const Framing& lines() const { return format_.lines_.framing(); }

  const JsonFormat& format_;
  mutable std::optional<bool> array_;
};

class JsonFormat::Reader : public RecordReader {
 public:
  Reader(const JsonFormat& format, std::optional<bool> array) : framing_(format, array) {}

  absl::Status Begin(const FileSystem& files, const std::string& path, const Split& split, int64_t from,
                     size_t block_bytes) {
    HEADRACE_ASSIGN_OR_RETURN(text_, OpenText(&framing_, files, path, split, from, block_bytes));
    return absl::OkStatus();
  }
  absl::Status Next(RecordBlock& block) override { return text_->Next(block); }
  int64_t offset() const override { return text_->offset(); }
  int64_t file_size() const override { return text_->file_size(); }

 private:
  const Either framing_;
  std::unique_ptr<RecordReader> text_;
};

absl::StatusOr<bool> JsonFormat::IsOneSplit(const FileSystem& files, const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<uint8_t> head, HeadOfPlainJson(files, path));
  const absl::Span<const uint8_t> first(head);
  const Compression compression = CompressionOf(first.first(std::min(first.size(), kCompressionBytes)));
  return compression != Compression::kNone || BeginsJsonArray(first).value_or(false);
}

absl::StatusOr<std::unique_ptr<RecordReader>> JsonFormat::Open(const FileSystem& files, const std::string& path,
                                                               const Split& split, int64_t from,
                                                               size_t block_bytes) const {
  // Splits that begin within a file are those of lines.
  std::optional<bool> array;
  if (split.begin > 0) array = false;
  if (split.begin == 0 && from > 0) {
    HEADRACE_ASSIGN_OR_RETURN(const Compression compression, CompressionOfFile(files, path));
    HEADRACE_ASSIGN_OR_RETURN(array, HoldsJsonArray(files, path, compression));
  }
  auto reader = std::make_unique<Reader>(*this, array);
  HEADRACE_RETURN_IF_ERROR(reader->Begin(files, path, split, from, block_bytes));
  return std::unique_ptr<RecordReader>(std::move(reader));
}

}  // namespace headrace
