#include "io/formats/fixed/fixed_rows.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace headrace {
namespace {

// Bytes between two rows that are read along. Few: a rank reads its own rows.
constexpr int64_t kMostBetweenFixed = 64;

}  // namespace

FixedRows::FixedRows(const FileSystem* files, std::shared_ptr<const FixedTable> table)
    : table_(std::move(table)), reads_(files, table_->files(), kMostBetweenFixed) {}

FixedRows::Place FixedRows::PlaceOf(uint64_t item) const {
  const FixedTable::Part& part = table_->parts()[item / table_->size()];
  const uint64_t row = item % table_->size();
  const FixedTable::Run& run = part.RunOf(row);
  const uint64_t within = row - run.first;
  return {&run, run.begin + static_cast<int64_t>(within) * part.row_bytes, part.row_bytes, within};
}

RandomAccessReader::Location FixedRows::LocationOf(uint64_t item) const {
  const Place place = PlaceOf(item);
  // A byte of what was unpacked is none of the file.
  const int64_t offset = place.run->unpacked ? -1 : place.begin;
  return {place.run->file, static_cast<int64_t>(place.row), offset};
}

size_t FixedRows::Alike(absl::Span<const uint64_t> items) const {
  const auto unpacked = [&](uint64_t item) { return static_cast<bool>(PlaceOf(item).run->unpacked); };
  const bool first = unpacked(items[0]);
  size_t count = 1;
  while (count < items.size() && unpacked(items[count]) == first) ++count;
  return count;
}

void FixedRows::TakeUnpacked(absl::Span<const uint64_t> items, absl::Span<Content> contents) const {
  for (size_t i = 0; i < items.size(); ++i) {
    const Place place = PlaceOf(items[i]);
    contents[i].buffer = place.run->unpacked;
    contents[i].bytes = {reinterpret_cast<const char*>(place.run->unpacked->data()) + place.begin,
                         static_cast<size_t>(place.bytes)};
  }
}

JoinedReads::Piece FixedRows::PieceOf(uint64_t item) const {
  const Place place = PlaceOf(item);
  return {place.run->file, place.begin, place.begin + place.bytes};
}

// Those that were unpacked are in memory.
void FixedRows::Start(absl::Span<const uint64_t> items) const {
  std::vector<uint64_t> packed;
  std::copy_if(items.begin(), items.end(), std::back_inserter(packed),
               [this](uint64_t item) { return !PlaceOf(item).run->unpacked; });
  reads_.Start(packed, [this](uint64_t item) { return PieceOf(item); });
}

size_t FixedRows::ReadFiles(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const {
  const auto piece_of = [this](uint64_t item) { return PieceOf(item); };
  const auto cut = [&](uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<uint8_t> bytes,
                       Content& content) {
    const JoinedReads::Piece piece = piece_of(item);
    return JoinedReads::CutWhole(piece, "row", opened, table_->files()[piece.file].size, bytes, content);
  };
  return reads_.Read(*this, items, contents, piece_of, cut, wrong);
}

size_t FixedRows::Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const {
  size_t done = 0;
  while (done < items.size()) {
    const size_t count = Alike(items.subspan(done));
    const absl::Span<const uint64_t> some = items.subspan(done, count);
    size_t read = count;
    if (PlaceOf(some[0]).run->unpacked) {
      TakeUnpacked(some, contents.subspan(done, count));
    } else {
      read = ReadFiles(some, contents.subspan(done, count), wrong);
    }
    done += read;
    if (read < count) break;
  }
  return done;
}

}  // namespace headrace
