#include "io/formats/mindrecord/mind_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "io/formats/mindrecord/mind_file.h"

namespace headrace {
namespace {

// Bytes between two rows that are read along. Few: a rank reads its own rows.
constexpr int64_t kMostBetweenRows = 64;

}  // namespace

MindRows::MindRows(const FileSystem* files, std::shared_ptr<const MindTable> table)
    : table_(std::move(table)), reads_(files, table_->items().files(), kMostBetweenRows) {}

RandomAccessReader::Location MindRows::LocationOf(uint64_t item) const {
  const MindTable::Place place = table_->PlaceOf(item);
  return {place.file, static_cast<int64_t>(place.row), place.offset};
}

JoinedReads::Piece MindRows::PieceOf(uint64_t item) const {
  const ItemTable& items = table_->items();
  const uint64_t file = items.FileOf(item);
  const int64_t begin = items.Begin(item, file);
  // An index may claim what no page can hold.
  return {file, begin, std::min(items.End(item, file), begin + MindHeader::kMostPageBytes)};
}

void MindRows::Start(absl::Span<const uint64_t> items) const {
  reads_.Start(items, [this](uint64_t item) { return PieceOf(item); });
}

size_t MindRows::Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const {
  const auto piece_of = [this](uint64_t item) { return PieceOf(item); };
  const auto cut = [this](uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<uint8_t> bytes,
                          Content& content) { return CutItem(item, opened, bytes, content); };
  return reads_.Read(*this, items, contents, piece_of, cut, wrong);
}

absl::Status MindRows::CutItem(uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<const uint8_t> bytes,
                               Content& content) const {
  const JoinedReads::Piece piece = PieceOf(item);
  content.changed = opened.size != table_->items().files()[piece.file].size;
  const int64_t length = piece.end - piece.begin - kMindLengthBytes;
  uint64_t found = 0;
  const bool whole = length >= 0 && static_cast<int64_t>(bytes.size()) >= piece.end - piece.begin;
  if (whole) std::memcpy(&found, bytes.data(), sizeof(found));
  if (!whole || found != static_cast<uint64_t>(length)) {
    return DataError("byte ", piece.begin, ": no row of ", length, " bytes is there, where one was found before: the ",
                     "file was changed");
  }
  content.bytes = {reinterpret_cast<const char*>(bytes.data()) + kMindLengthBytes, static_cast<size_t>(length)};
  return absl::OkStatus();
}

}  // namespace headrace
