#include "io/formats/lmdb/lmdb_rows.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

// Bytes between two pages that are read along.
constexpr int64_t kMostBetweenPages = 0;

absl::Status ChangedError(const LmdbTable::Place& place) {
  return DataError("byte ", place.at,
                   ": another entry is there than when the run began: the file was written to; run without writers, or "
                   "on a copy");
}

}  // namespace

LmdbRows::LmdbRows(const FileSystem* files, std::shared_ptr<const LmdbTable> table)
    : table_(std::move(table)), reads_(files, table_->files(), kMostBetweenPages) {}

RandomAccessReader::Location LmdbRows::LocationOf(uint64_t item) const {
  const uint64_t row = item / 2;
  return {0, static_cast<int64_t>(row), table_->PlaceOf(row).at};
}

// Entries are read with their page: those of a page are not in the order of their bytes, and then share one read.
JoinedReads::Piece LmdbRows::PieceOf(uint64_t item) const {
  const LmdbTable::Place place = table_->PlaceOf(item / 2);
  const int64_t page_bytes = table_->page_bytes();
  if (item % 2 == 0) {
    const int64_t begin = place.at / page_bytes * page_bytes;
    return {0, begin, begin + page_bytes};
  }
  const int64_t begin = static_cast<int64_t>(place.value_page) * page_bytes;
  return {0, begin, begin + static_cast<int64_t>(kLmdbPageHead) + place.value_bytes};
}

void LmdbRows::Start(absl::Span<const uint64_t> items) const {
  reads_.Start(items, [this](uint64_t item) { return PieceOf(item); });
}

size_t LmdbRows::Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const {
  const auto piece_of = [this](uint64_t item) { return PieceOf(item); };
  const auto cut = [this](uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<uint8_t> bytes,
                          Content& content) { return CutItem(item, opened, bytes, content); };
  return reads_.Read(*this, items, contents, piece_of, cut, wrong);
}

absl::Status LmdbRows::CutItem(uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<const uint8_t> bytes,
                               Content& content) const {
  const JoinedReads::Piece piece = PieceOf(item);
  const LmdbTable::Place place = table_->PlaceOf(item / 2);
  const char* const what = item % 2 == 0 ? "entry's page" : "value";
  HEADRACE_RETURN_IF_ERROR(JoinedReads::CutWhole(piece, what, opened, table_->files()[0].size, bytes, content));
  const std::string_view read = content.bytes;
  if (item % 2 == 1) {
    if (!IsOverflowPage(read, place.value_page)) {
      return DataError("byte ", piece.begin, ": the value's page ", place.value_page, " is damaged, or was written to");
    }
    content.bytes = read.substr(kLmdbPageHead);
    return absl::OkStatus();
  }
  const auto at = static_cast<size_t>(place.at - piece.begin);
  const std::optional<LmdbEntry> entry = LmdbPage::EntryAt(read, at);
  const bool same = entry.has_value() && entry->key.size() == place.key_bytes &&
                    entry->value_bytes == place.value_bytes && entry->big == (place.value_page != 0);
  if (!same) return ChangedError(place);
  content.bytes = read.substr(at, LmdbEntry::kHead + entry->key.size() + entry->value.size());
  return absl::OkStatus();
}

absl::Status LmdbRows::CheckUnchanged() const {
  // Nobody writes into a far object: another one takes its place, which has another version.
  if (most_outstanding() > 0) return absl::OkStatus();
  absl::Status error = CompareMeta();
  if (error.ok()) return error;
  AddErrorField(error, ErrorField::kFile, *reads_.path(0));
  return error;
}

absl::Status LmdbRows::CompareMeta() const {
  HEADRACE_ASSIGN_OR_RETURN(const JoinedReads::OpenFile opened, reads_.Open(0));
  HEADRACE_ASSIGN_OR_RETURN(const LmdbMeta meta, ReadLmdbMeta(*opened.file));
  if (meta == table_->meta()) return absl::OkStatus();
  return BeyondRow(DataError("the file was written to after the run had begun, by transaction ", meta.transaction,
                             "; run without writers, or on a copy"));
}

}  // namespace headrace
