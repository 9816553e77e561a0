#include "io/formats/tar/indexed_samples.h"

#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

// Bytes between two samples that are read along: a header or two of members that belong to none.
constexpr int64_t kMostBetweenSamples = 2048;

}  // namespace

IndexedSamples::IndexedSamples(const FileSystem* files, std::shared_ptr<const ItemTable> table)
    : table_(std::move(table)), reads_(files, table_->files(), kMostBetweenSamples) {}

RandomAccessReader::Location IndexedSamples::LocationOf(uint64_t item) const {
  const uint64_t file = table_->FileOf(item);
  return {file, -1, table_->Begin(item, file)};
}

JoinedReads::Piece IndexedSamples::PieceOf(uint64_t item) const {
  const uint64_t file = table_->FileOf(item);
  return {file, table_->Begin(item, file), table_->End(item, file)};
}

void IndexedSamples::Start(absl::Span<const uint64_t> items) const {
  reads_.Start(items, [this](uint64_t item) { return PieceOf(item); });
}

size_t IndexedSamples::Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const {
  const auto piece_of = [this](uint64_t item) { return PieceOf(item); };
  const auto cut = [&](uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<uint8_t> bytes,
                       Content& content) -> absl::Status {
    const JoinedReads::Piece piece = piece_of(item);
    const auto wanted = static_cast<size_t>(piece.end - piece.begin);
    content.changed = opened.size != table_->files()[piece.file].size;
    if (bytes.size() < wanted) {
      return DataError("the archive ends at byte ", opened.size,
                       ", before the end of a sample that it had before, at byte ", piece.end,
                       ": the file was changed");
    }
    content.bytes = {reinterpret_cast<const char*>(bytes.data()), wanted};
    return absl::OkStatus();
  };
  return reads_.Read(*this, items, contents, piece_of, cut, wrong);
}

}  // namespace headrace
