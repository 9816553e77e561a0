#include "io/formats/tfrecord/tf_record_format.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/formats/compressed/decompressed_records.h"
#include "io/formats/framed_reader.h"
#include "io/formats/tfrecord/tf_record_framing.h"

namespace headrace {
namespace {

// Of a payload of a compressed file, of which a few bytes may claim, and hold, as many as they like.
constexpr uint64_t kLongestCompressed = uint64_t{256} << 20;

bool BeginsWithARecord(absl::Span<const uint8_t> first) {
  return first.size() >= TfRecordFrame::kHeadBytes && TfPayloadLength(first.data()).has_value();
}

bool BeginsAsZlib(absl::Span<const uint8_t> first) {
  constexpr uint8_t kLargestWindow = 0x78;
  // The four levels of compression that zlib writes.
  return first.size() >= 2 && first[0] == kLargestWindow &&
         (first[1] == 0x01 || first[1] == 0x5e || first[1] == 0x9c || first[1] == 0xda);
}

// Joins what was lost to the stretch before it, if it follows that.
void AddLost(int64_t offset, int64_t bytes, const absl::Status& reason, std::vector<LostBytes>& lost) {
  if (!lost.empty() && lost.back().offset + lost.back().bytes == offset) {
    lost.back().bytes += bytes;
  } else {
    lost.push_back({offset, bytes, std::string(ToStd(reason.message()))});
  }
}

// What a reader is opened with.
struct TfRecordFile {
  const FileSystem* files;
  std::string path;
  Split split;
  size_t block_bytes;
};

// Finds out by the first bytes of a file how it is compressed, so that it is open without waiting for a read, and
// leaves out damaged records if it is to.
class TfRecordReader : public RecordReader {
 public:
  TfRecordReader(TfRecordFile file, OnDamage on_damage, std::optional<Compression> compression)
      : file_(std::move(file)), skips_(on_damage == OnDamage::kSkip), compression_(compression) {}

  // Begins to read at the file's start, whatever it will turn out to be.
  absl::Status Begin() {
    HEADRACE_ASSIGN_OR_RETURN(
        plain_, FramedReader::Open(&framing_, *file_.files, file_.path, file_.split, 0, file_.block_bytes));
    return absl::OkStatus();
  }
  // Begins at a byte of what the file holds.
  absl::Status BeginAt(int64_t from) {
    std::optional<Compression> compression = compression_;
    if (!compression.has_value()) {
      HEADRACE_ASSIGN_OR_RETURN(compression, TfRecordCompressionOfFile(*file_.files, file_.path));
    }
    if (*compression != Compression::kNone) return Decompress(*compression, from);
    HEADRACE_ASSIGN_OR_RETURN(
        reader_, FramedReader::Open(&framing_, *file_.files, file_.path, file_.split, from, file_.block_bytes));
    return absl::OkStatus();
  }

  absl::Status Next(RecordBlock& block) override;
  int64_t offset() const override {
    return next_ < held_.records.size() ? held_.records[next_].offset : cut_off_.value_or(current().offset());
  }
  int64_t file_size() const override { return current().file_size(); }

 private:
  const RecordReader& current() const { return plain_ != nullptr ? *plain_ : *reader_; }
  const TfRecordFraming& framing() const { return compressed_ ? compressed_framing_ : framing_; }

  absl::Status FindOut();
  absl::Status Decompress(Compression compression, int64_t from);
  absl::Status NextUndamaged(RecordBlock& block);
  absl::Status Hold(std::vector<LostBytes>& lost);
  void TakeUndamaged(RecordBlock& block);

  const TfRecordFile file_;
  const bool skips_;
  const std::optional<Compression> compression_;  // as it was stated
  const TfRecordFraming framing_;
  const TfRecordFraming compressed_framing_{kLongestCompressed};
  bool compressed_ = false;
  std::unique_ptr<FramedReader> plain_;   // null: what the file is, is known
  std::unique_ptr<RecordReader> reader_;  // null: it is not
  std::optional<int64_t> cut_off_;        // where a file ends whose last record was left out
  // Under kSkip: records of which those from `next_` on are not given yet. A block that is given ends in front of a
  // damaged one, so that After() is the same whatever is read at once.
  RecordBlock held_;
  size_t next_ = 0;
};

absl::Status TfRecordReader::FindOut() {
  HEADRACE_ASSIGN_OR_RETURN(const absl::Span<const uint8_t> first, plain_->Peek(TfRecordFrame::kHeadBytes));
  const Compression compression = compression_.value_or(TfRecordCompression(first));
  if (compression == Compression::kNone) {
    reader_ = std::move(plain_);
    return absl::OkStatus();
  }
  if (BeginsWithARecord(first)) {
    return DataError("the file is not compressed by ", CompressionName(compression),
                     ": a record begins at byte 0; leave out compression=");
  }
  HEADRACE_RETURN_IF_ERROR(Decompress(compression, 0));
  plain_ = nullptr;
  return absl::OkStatus();
}

absl::Status TfRecordReader::Decompress(Compression compression, int64_t from) {
  HEADRACE_ASSIGN_OR_RETURN(reader_, OpenDecompressed(&compressed_framing_, *file_.files, file_.path, compression,
                                                      file_.split, from, file_.block_bytes));
  compressed_ = true;
  return absl::OkStatus();
}

absl::Status TfRecordReader::Next(RecordBlock& block) {
  block.records.clear();
  block.lost.clear();
  if (plain_ != nullptr) HEADRACE_RETURN_IF_ERROR(FindOut());
  return skips_ ? NextUndamaged(block) : reader_->Next(block);
}

absl::Status TfRecordReader::NextUndamaged(RecordBlock& block) {
  while (true) {
    if (next_ == held_.records.size()) HEADRACE_RETURN_IF_ERROR(Hold(block.lost));
    if (held_.records.empty()) return absl::OkStatus();
    TakeUndamaged(block);
    if (!block.records.empty()) return absl::OkStatus();
  }
}

// Reads records to hold; none at the end.
absl::Status TfRecordReader::Hold(std::vector<LostBytes>& lost) {
  held_.records.clear();
  next_ = 0;
  if (cut_off_.has_value()) return absl::OkStatus();
  absl::Status read = reader_->Next(held_);
  if (read.ok() || !framing().cut_off().has_value()) return read;
  const int64_t offset = reader_->offset();
  cut_off_ = framing().cut_off();
  AddLost(offset, *cut_off_ - offset, read, lost);
  return absl::OkStatus();
}

// Moves damaged records to the lost bytes, then whole ones up to the next damaged one to the block.
void TfRecordReader::TakeUndamaged(RecordBlock& block) {
  block.buffer = held_.buffer;
  block.bytes = held_.bytes;
  for (; next_ < held_.records.size(); ++next_) {
    const Record& record = held_.records[next_];
    const absl::Status checked = CheckTfPayload(held_.content(next_));
    if (checked.ok()) {
      block.records.push_back(record);
      block.end = held_.After(next_);
      continue;
    }
    if (!block.records.empty()) return;
    AddLost(record.offset, static_cast<int64_t>(TfRecordFrame::kAroundBytes) + record.length, checked, block.lost);
  }
}

}  // namespace

Compression TfRecordCompression(absl::Span<const uint8_t> first) {
  if (BeginsWithARecord(first)) return Compression::kNone;
  const Compression compression = CompressionOf(first.first(std::min(first.size(), kCompressionBytes)));
  return compression == Compression::kNone && BeginsAsZlib(first) ? Compression::kZlib : compression;
}

absl::StatusOr<Compression> TfRecordCompressionOfFile(const FileSystem& files, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  uint8_t first[TfRecordFrame::kHeadBytes] = {};
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file->ReadAt(0, absl::MakeSpan(first)));
  return TfRecordCompression(absl::MakeConstSpan(first, static_cast<size_t>(got)));
}

absl::StatusOr<std::unique_ptr<RecordReader>> TfRecordFormat::Open(const FileSystem& files, const std::string& path,
                                                                   const Split& split, int64_t from,
                                                                   size_t block_bytes) const {
  auto reader =
      std::make_unique<TfRecordReader>(TfRecordFile{&files, path, split, block_bytes}, on_damage_, compression_);
  HEADRACE_RETURN_IF_ERROR(from == 0 ? reader->Begin() : reader->BeginAt(from));
  return std::unique_ptr<RecordReader>(std::move(reader));
}

}  // namespace headrace
