#include "io/formats/tfrecord/indexed_tf_records.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/formats/tfrecord/tf_record_frame.h"

namespace headrace {
namespace {

// Bytes between two records that are read along. Few: a rank reads its own records.
constexpr int64_t kMostBetweenTfRecords = 64;
// A frame of more bytes is read after its head has said that it has as many: a table alone takes no memory.
constexpr int64_t kMostTrustedBytes = int64_t{16} << 20;

std::string_view PayloadOf(absl::Span<const uint8_t> frame) {
  return {reinterpret_cast<const char*>(frame.data()) + TfRecordFrame::kHeadBytes,
          frame.size() - TfRecordFrame::kAroundBytes};
}

}  // namespace

IndexedTfRecords::IndexedTfRecords(const FileSystem* files, std::shared_ptr<const TfRecordTable> table)
    : table_(std::move(table)), reads_(files, table_->records.files(), kMostBetweenTfRecords) {}

RandomAccessReader::Location IndexedTfRecords::LocationOf(uint64_t item) const {
  const uint64_t file = table_->records.FileOf(item);
  return {file, -1, table_->records.Begin(item, file)};
}

JoinedReads::Piece IndexedTfRecords::PieceOf(uint64_t item) const {
  const uint64_t file = table_->records.FileOf(item);
  const int64_t begin = table_->records.Begin(item, file);
  const int64_t end = table_->records.End(item, file);
  return {file, begin, end - begin > kMostTrustedBytes ? begin + static_cast<int64_t>(TfRecordFrame::kHeadBytes) : end};
}

void IndexedTfRecords::Start(absl::Span<const uint64_t> items) const {
  reads_.Start(items, [this](uint64_t item) { return PieceOf(item); });
}

size_t IndexedTfRecords::Read(absl::Span<const uint64_t> items, absl::Span<Content> contents,
                              absl::Status& wrong) const {
  const auto piece_of = [this](uint64_t item) { return PieceOf(item); };
  const auto cut = [this](uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<const uint8_t> bytes,
                          Content& content) { return Cut(item, opened, bytes, content); };
  return reads_.Read(*this, items, contents, piece_of, cut, wrong);
}

absl::Status IndexedTfRecords::Cut(uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<const uint8_t> bytes,
                                   Content& content) const {
  const JoinedReads::Piece piece = PieceOf(item);
  content.changed = opened.size != table_->records.files()[piece.file].size;
  const auto whole = static_cast<size_t>(table_->records.End(item, piece.file) - piece.begin);
  if (bytes.size() < TfRecordFrame::kHeadBytes) return NotThere(item, piece.file);
  const std::optional<uint64_t> length = TfPayloadLength(bytes.data());
  if (!length.has_value() || *length > TfRecordFrame::kLongest || *length + TfRecordFrame::kAroundBytes != whole) {
    return NotThere(item, piece.file);
  }
  if (static_cast<int64_t>(whole) > kMostTrustedBytes) return ReadLong(item, piece.file, opened, content);
  if (bytes.size() < whole) return NotThere(item, piece.file);
  content.bytes = PayloadOf(bytes.first(whole));
  return CheckTfPayload(content.bytes);
}

absl::Status IndexedTfRecords::ReadLong(uint64_t item, uint64_t file, const JoinedReads::OpenFile& opened,
                                        Content& content) const {
  const int64_t begin = table_->records.Begin(item, file);
  const int64_t bytes = table_->records.End(item, file) - begin;
  HEADRACE_RETURN_IF_ERROR(CheckHeld(Cat("the record at byte ", begin), *opened.file, bytes));
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<PendingRead> read,
                            PendingRead::Start(opened.file, begin, 0, static_cast<size_t>(bytes)));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, read->Wait());
  if (got < bytes) return NotThere(item, file);
  content.buffer = read->buffer();
  content.bytes = PayloadOf({read->buffer()->data(), static_cast<size_t>(bytes)});
  return CheckTfPayload(content.bytes);
}

absl::Status IndexedTfRecords::NotThere(uint64_t item, uint64_t file) const {
  const int64_t begin = table_->records.Begin(item, file);
  const int64_t end = table_->records.End(item, file);
  if (table_->indices.empty()) {
    return DataError("no record is at byte ", begin, " up to byte ", end,
                     ", where one was found before: the file was changed");
  }
  return DataError(table_->indices[file], ": it names a record at byte ", begin, " up to byte ", end, " of ",
                   table_->records.files()[file].path,
                   ", where none is: make the index anew, or read with index=\"build\"");
}

}  // namespace headrace
