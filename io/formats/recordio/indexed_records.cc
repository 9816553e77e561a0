#include "io/formats/recordio/indexed_records.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/formats/recordio/record_frame.h"

namespace headrace {
namespace {

constexpr auto kIndexedRecordsHead = static_cast<int64_t>(RecordFrame::kHeadBytes);
// Bytes between two records that are read along. Few: a rank reads its own records.
constexpr int64_t kMostBetween = 64;
// What is read at first of a record whose length is not known.
constexpr int64_t kFirstRead = int64_t{64} << 10;
// Up to this many bytes the distance to the next record is taken for a length: records of an index that has very many
// are not all looked up, and memory is taken for none that only claims to be long.
constexpr int64_t kMostTrusted = int64_t{16} << 20;

}  // namespace

IndexedRecords::IndexedRecords(const FileSystem* files, std::shared_ptr<const RecordTable> table)
    : table_(std::move(table)), reads_(files, table_->files(), kMostBetween) {}

RandomAccessReader::Location IndexedRecords::LocationOf(uint64_t item) const {
  const uint64_t file = table_->FileOf(item);
  return {file, static_cast<int64_t>(item - table_->files()[file].first), table_->Begin(item, file)};
}

// A record counts only with the head of the next one after it.
int64_t IndexedRecords::EndOf(uint64_t item, uint64_t file) const {
  const int64_t end = table_->End(item, file);
  const int64_t most = table_->Begin(item, file) + kFirstRead;
  const bool trusted = table_->source(file).complete && end - table_->Begin(item, file) <= kMostTrusted;
  return std::min(table_->files()[file].size, (trusted ? end : std::min(end, most)) + kIndexedRecordsHead);
}

JoinedReads::Piece IndexedRecords::PieceOf(uint64_t item) const {
  const uint64_t file = table_->FileOf(item);
  return {file, table_->Begin(item, file), EndOf(item, file)};
}

void IndexedRecords::Start(absl::Span<const uint64_t> items) const {
  reads_.Start(items, [this](uint64_t item) { return PieceOf(item); });
}

size_t IndexedRecords::Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const {
  const auto piece_of = [this](uint64_t item) { return PieceOf(item); };
  const auto cut = [this](uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<uint8_t> bytes,
                          Content& content) { return CutOne(item, opened, bytes, content); };
  return reads_.Read(*this, items, contents, piece_of, cut, wrong);
}

absl::Status IndexedRecords::CutOne(uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<uint8_t> bytes,
                                    Content& content) const {
  const uint64_t file = table_->FileOf(item);
  const int64_t offset = table_->Begin(item, file);
  content.changed = opened.size != table_->files()[file].size;
  if (bytes.size() < RecordFrame::kHeadBytes || !IsRecordHead(bytes.data())) return NoHead(item, file);
  const bool last = offset + static_cast<int64_t>(bytes.size()) >= opened.size;
  HEADRACE_ASSIGN_OR_RETURN(const CutRecord cut, CutRecordAt(bytes, offset, last));
  if (!cut.whole) return ReadLong(opened, offset, bytes, cut.end, content);
  content.bytes = {reinterpret_cast<const char*>(bytes.data()) + cut.begin, cut.length};
  return absl::OkStatus();
}

// A record that ends elsewhere than the index said, if it said so at all. `bytes`: what is known of it; `reach`: how
// many it claims. Reads at least twice as many bytes each time, as a record of many frames
// claims them one by one.
absl::Status IndexedRecords::ReadLong(const JoinedReads::OpenFile& opened, int64_t offset,
                                      absl::Span<const uint8_t> bytes, size_t reach, Content& content) const {
  while (true) {
    if (StopSignal::Raised()) return StopSignal::Error();
    HEADRACE_RETURN_IF_ERROR(CheckRecordReach(bytes, offset, *opened.file));
    HEADRACE_RETURN_IF_ERROR(CheckHeld(Cat("the record at byte ", offset), *opened.file, static_cast<int64_t>(reach)));
    HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<PendingRead> read,
                              PendingRead::Start(opened.file, offset, 0, reach));
    HEADRACE_ASSIGN_OR_RETURN(const int64_t got, read->Wait());
    content.buffer = read->buffer();
    const absl::Span<uint8_t> all = absl::MakeSpan(read->buffer()->data(), static_cast<size_t>(got));
    const bool last = offset + got >= opened.size;
    HEADRACE_ASSIGN_OR_RETURN(const CutRecord cut, CutRecordAt(all, offset, last));
    if (cut.whole) {
      content.bytes = {reinterpret_cast<const char*>(all.data()) + cut.begin, cut.length};
      return absl::OkStatus();
    }
    if (cut.end <= reach) return DataError("the record at byte ", offset, " was changed while it was read");
    bytes = all;
    const auto there = static_cast<size_t>(std::max<int64_t>(0, opened.size - offset));
    reach = std::max(cut.end, std::min(2 * all.size(), there));
  }
}

absl::Status IndexedRecords::NoHead(uint64_t item, uint64_t file) const {
  const std::string& index = table_->source(file).index;
  const int64_t offset = table_->Begin(item, file);
  if (index.empty()) {
    return DataError("no record begins at byte ", offset, ", where one was found before: the file was changed");
  }
  return DataError(index, ": key ", table_->Key(item, file), " points to byte ", offset, " of ",
                   table_->files()[file].path,
                   ", where no record begins: make the index anew, or read with index=\"build\"");
}

}  // namespace headrace
