#include "ops/rows/gather_rows.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/type.h"
#include "ops/rows/block_rows.h"

namespace headrace {
namespace {

// The rows by the numbers of their blocks: blocks are asked once for where their identities begin, and once for each
// column that is copied.
class NumberedBlocks {
 public:
  explicit NumberedBlocks(absl::Span<const RowInBlock> rows) : places_(rows.size()) {
    for (size_t i = 0; i < rows.size(); ++i) {
      places_[i] = {NumberOf(rows[i].block), static_cast<uint32_t>(rows[i].row)};
    }
  }

  void AppendIds(Block& joined) const {
    std::vector<const RowId*> begins;
    for (const Block* block : blocks_) begins.push_back(block->ids.data());
    AppendMade(joined.ids, places_.size(), [&](size_t i) { return begins[places_[i].block][places_[i].row]; });
  }

  // Copies rows of so many bytes.
  void Copy(size_t column, size_t bytes, uint8_t* target) {
    begins_.clear();
    for (const Block* block : blocks_) begins_.push_back(block->columns[column].stack().raw());
    if (bytes == 8) return CopyFixed<8>(target);
    if (bytes == 4) return CopyFixed<4>(target);
    for (const Place& place : places_) {
      std::memcpy(target, begins_[place.block] + place.row * bytes, bytes);
      target += bytes;
    }
  }

 private:
  struct Place {
    uint32_t block;  // its number in blocks_
    uint32_t row;
  };

  // Of blocks that came lately, so that it takes no longer the more blocks there are; others have several numbers.
  uint32_t NumberOf(const Block* block) {
    constexpr size_t kLooked = 8;
    const size_t looked = std::min(kLooked, blocks_.size());
    for (size_t i = 1; i <= looked; ++i) {
      if (blocks_[blocks_.size() - i] == block) return static_cast<uint32_t>(blocks_.size() - i);
    }
    blocks_.push_back(block);
    return static_cast<uint32_t>(blocks_.size() - 1);
  }

  template <size_t kBytes>
  void CopyFixed(uint8_t* target) const {
    const Place* place = places_.data();
    const uint8_t* const* const begins = begins_.data();
    for (size_t i = 0; i < places_.size(); ++i, ++place) {
      std::memcpy(target + i * kBytes, begins[place->block] + place->row * kBytes, kBytes);
    }
  }

  std::vector<Place> places_;
  std::vector<const Block*> blocks_;
  std::vector<const uint8_t*> begins_;
};

// Byte strings are copied here and below: a row would keep the memory of its whole message, or of its block of a file.
BlockColumn MoveColumn(absl::Span<const RowInBlock> rows, size_t column) {
  BlockColumn joined;
  for (const RowInBlock& row : rows) joined.Append(SeparateRow(row.block->columns[column].TakeRow(row.row)));
  return joined;
}

absl::StatusOr<Tensor> CopyStrings(absl::Span<const RowInBlock> rows, size_t column) {
  std::vector<std::string_view> strings;
  strings.reserve(rows.size());
  for (const RowInBlock& row : rows) strings.push_back(row.block->columns[column].stack().bytes_at(row.row));
  const DType dtype = rows[0].block->columns[column].stack().dtype();
  return Tensor::CopyBytesArray(dtype, {static_cast<int64_t>(rows.size())}, strings);
}

// The splits of ragged rows that are joined in this order.
absl::StatusOr<Tensor> JoinedSplits(absl::Span<const RowInBlock> rows, size_t column) {
  absl::StatusOr<Tensor> joined = Tensor::Allocate(DType::kInt64, {static_cast<int64_t>(rows.size()) + 1});
  if (!joined.ok()) return joined;
  auto* split = joined->mutable_data<int64_t>();
  *split = 0;
  for (const RowInBlock& row : rows) {
    const int64_t* const of_row = row.block->columns[column].splits().data() + row.row;
    split[1] = split[0] + of_row[1] - of_row[0];
    ++split;
  }
  return joined;
}

absl::StatusOr<Tensor> JoinedStrings(absl::Span<const RowInBlock> rows, size_t column, const Shape& shape) {
  std::vector<std::string_view> strings;
  strings.reserve(static_cast<size_t>(ElementCount(shape)));
  for (const RowInBlock& row : rows) {
    const Tensor values = row.block->columns[column].ValuesOf(row.row, 1);
    for (int64_t i = 0; i < values.elements(); ++i) strings.push_back(values.bytes_at(i));
  }
  return Tensor::CopyBytesArray(rows[0].block->columns[column].values().dtype(), shape, strings);
}

absl::StatusOr<Tensor> JoinedNumbers(absl::Span<const RowInBlock> rows, size_t column, const Shape& shape) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor joined, Tensor::Allocate(rows[0].block->columns[column].values().dtype(), shape));
  if (joined.elements() == 0) return joined;
  const auto bytes = static_cast<size_t>(joined.stride(0));
  uint8_t* target = joined.mutable_raw();
  for (const RowInBlock& row : rows) {
    const BlockColumn& from = row.block->columns[column];
    const int64_t* const split = from.splits().data() + row.row;
    const size_t length = static_cast<size_t>(split[1] - split[0]) * bytes;
    if (length > 0) std::memcpy(target, from.values().raw() + static_cast<size_t>(split[0]) * bytes, length);
    target += length;
  }
  return joined;
}

absl::StatusOr<BlockColumn> JoinRagged(absl::Span<const RowInBlock> rows, size_t column) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor splits, JoinedSplits(rows, column));
  const Tensor& like = rows[0].block->columns[column].values();
  Shape shape = like.shape();
  shape[0] = splits.data<int64_t>()[rows.size()];
  absl::StatusOr<Tensor> values =
      IsVariableLength(like.dtype()) ? JoinedStrings(rows, column, shape) : JoinedNumbers(rows, column, shape);
  HEADRACE_RETURN_IF_ERROR(values.status());
  return BlockColumn::Ragged(*std::move(values), std::move(splits));
}

BlockColumn CopyColumn(absl::Span<const RowInBlock> rows, size_t column, NumberedBlocks& blocks) {
  if (rows[0].block->columns[column].ragged()) {
    absl::StatusOr<BlockColumn> joined = JoinRagged(rows, column);
    return joined.ok() ? *std::move(joined) : MoveColumn(rows, column);
  }
  const Tensor& like = rows[0].block->columns[column].stack();
  if (IsVariableLength(like.dtype())) {
    absl::StatusOr<Tensor> strings = CopyStrings(rows, column);
    return strings.ok() ? BlockColumn::Stacked(*std::move(strings)) : MoveColumn(rows, column);
  }
  Shape shape = like.shape();
  shape[0] = static_cast<int64_t>(rows.size());
  absl::StatusOr<Tensor> joined = Tensor::Allocate(like.dtype(), shape);
  // Leaves the column in pieces if there is no memory to join it.
  if (!joined.ok()) return MoveColumn(rows, column);
  blocks.Copy(column, joined->bytes() / rows.size(), joined->mutable_raw());
  return BlockColumn::Stacked(*std::move(joined));
}

}  // namespace

std::optional<RunTypes> RunTypesOf(const Block& block) {
  RunTypes types;
  for (const BlockColumn& column : block.columns) {
    if (!column.ragged() && !column.in_runs() && !CopiesTogether(column)) return std::nullopt;
    const Tensor& rows = column.ragged() ? column.values() : column.stack();
    Shape shape(rows.shape().begin() + 1, rows.shape().end());
    if (column.ragged()) shape.insert(shape.begin(), ir::kUnknownDim);
    types.emplace_back(rows.dtype(), std::move(shape));
  }
  return types;
}

Message GatherRows(absl::Span<const RowInBlock> rows, bool same_runs) {
  auto joined = std::make_unique<Block>();
  NumberedBlocks blocks(rows);
  blocks.AppendIds(*joined);
  joined->provenances.reserve(rows.size());
  for (const RowInBlock& row : rows) joined->provenances.Append(row.block->provenances, static_cast<size_t>(row.row));
  for (size_t c = 0; c < rows[0].block->columns.size(); ++c) {
    joined->columns.push_back(same_runs ? CopyColumn(rows, c, blocks) : MoveColumn(rows, c));
  }
  if (rows.size() > 1) return joined;
  // A single row keeps its trail.
  if (const CacheTrail* trail = rows[0].block->cache_trail.get()) {
    joined->cache_trail = std::make_unique<CacheTrail>(CacheTrail{trail->found_in, 0, trail->source_key});
  }
  return joined;
}

Message GatherRows(absl::Span<const RowInBlock> rows) {
  std::vector<const Block*> blocks;
  for (const RowInBlock& row : rows) blocks.push_back(row.block);
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  const std::optional<RunTypes> types = RunTypesOf(*blocks[0]);
  const bool same_runs = types.has_value() && std::all_of(blocks.begin(), blocks.end(), [&](const Block* block) {
                           return block == blocks[0] || RunTypesOf(*block) == types;
                         });
  return GatherRows(rows, same_runs);
}

}  // namespace headrace
