#include "io/formats/split_table.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headrace {
namespace {

constexpr int64_t kSplitsOfAll = 1024;
constexpr int64_t kLeastBytes = int64_t{64} << 10;
constexpr int64_t kMostBytes = int64_t{16} << 20;

// Without overflow, for b above 0.
int64_t DivideUp(int64_t a, int64_t b) { return a / b + (a % b == 0 ? 0 : 1); }

// The bytes of the part, of `total`.
Split RangeOf(const SplitTable::Part& part, int64_t total) {
  const auto count = static_cast<int64_t>(std::min<uint64_t>(part.count, Split::kFileEnd));
  const int64_t alignment = part.borders.alignment;
  const int64_t step = DivideUp(DivideUp(total, count), alignment) * alignment;
  // Compares before it multiplies: the product may exceed 64 bits.
  const auto border = [&](uint64_t number) {
    const bool beyond = step > 0 && number > static_cast<uint64_t>(total / step);
    return beyond ? total : std::min(total, static_cast<int64_t>(number) * step);
  };
  return {border(part.number), border(part.number + 1)};
}

}  // namespace

void SplitTable::Add(size_t file, int64_t size, const Split& bytes) {
  const int64_t there = std::min(size, bytes.end) - bytes.begin;
  const uint64_t splits = there <= 0 ? 1 : static_cast<uint64_t>(DivideUp(there, split_bytes_));
  pieces_.push_back({file, bytes, this->size(), splits});
}

SplitTable::SplitTable(absl::Span<const int64_t> sizes, int64_t split_bytes) : split_bytes_(split_bytes) {
  pieces_.reserve(sizes.size());
  for (size_t file = 0; file < sizes.size(); ++file) Add(file, sizes[file], {});
}

SplitTable::SplitTable(absl::Span<const int64_t> sizes, int64_t split_bytes, const Part& part)
    : split_bytes_(split_bytes) {
  const Split range = RangeOf(part, std::accumulate(sizes.begin(), sizes.end(), int64_t{0}));
  const int64_t moved = part.borders.to_part_before ? 1 : 0;
  int64_t before = 0;
  for (size_t file = 0; file < sizes.size(); ++file) {
    const int64_t size = sizes[file];
    const int64_t begin = range.begin - before;
    const int64_t end = range.end - before;
    before += size;
    if (begin >= size || end <= 0) continue;
    const Split bytes = {begin <= 0 ? 0 : begin + moved, end + moved >= size ? Split::kFileEnd : end + moved};
    if (bytes.begin < size) Add(file, size, bytes);
  }
}

std::vector<uint64_t> SplitTable::CutFiles() const {
  std::vector<uint64_t> cut;
  for (const Piece& piece : pieces_) {
    if (piece.splits > 1 || piece.bytes != Split()) cut.push_back(piece.file);
  }
  return cut;
}

void SplitTable::KeepWhole(absl::Span<const uint64_t> files) {
  const std::vector<Piece> pieces = std::exchange(pieces_, {});
  pieces_.reserve(pieces.size());
  for (Piece piece : pieces) {
    if (std::binary_search(files.begin(), files.end(), piece.file)) {
      if (piece.bytes.begin > 0) continue;
      piece.bytes = Split();
      piece.splits = 1;
    }
    piece.first = size();
    pieces_.push_back(piece);
  }
}

int64_t SplitTable::DefaultSplitBytes(int64_t total) {
  return std::clamp(total / kSplitsOfAll, kLeastBytes, kMostBytes);
}

SplitTable::FileSplit SplitTable::At(uint64_t number) const {
  const auto behind = std::upper_bound(pieces_.begin(), pieces_.end(), number,
                                       [](uint64_t split, const Piece& piece) { return split < piece.first; });
  const Piece& piece = *(behind - 1);
  const uint64_t within = number - piece.first;
  const int64_t begin = piece.bytes.begin + static_cast<int64_t>(within) * split_bytes_;
  return {piece.file, {begin, within + 1 == piece.splits ? piece.bytes.end : begin + split_bytes_}};
}

}  // namespace headrace
