#include "ops/rows/gather_rows.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/rows/block_rows.h"

namespace headrace {
namespace {

template <size_t kBytes>
void CopyFixed(absl::Span<const RowInBlock> rows, size_t column, uint8_t* target) {
  for (const RowInBlock& row : rows) {
    std::memcpy(target, row.block->columns[column].stack().raw() + static_cast<size_t>(row.row) * kBytes, kBytes);
    target += kBytes;
  }
}

void CopyRows(absl::Span<const RowInBlock> rows, size_t column, size_t bytes, uint8_t* target) {
  if (bytes == 8) return CopyFixed<8>(rows, column, target);
  if (bytes == 4) return CopyFixed<4>(rows, column, target);
  for (const RowInBlock& row : rows) {
    std::memcpy(target, row.block->columns[column].stack().raw() + static_cast<size_t>(row.row) * bytes, bytes);
    target += bytes;
  }
}

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

BlockColumn CopyColumn(absl::Span<const RowInBlock> rows, size_t column) {
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
  CopyRows(rows, column, joined->bytes() / rows.size(), joined->mutable_raw());
  return BlockColumn::Stacked(*std::move(joined));
}

}  // namespace

std::optional<RunTypes> RunTypesOf(const Block& block) {
  RunTypes types;
  for (const BlockColumn& column : block.columns) {
    if (!column.in_runs() && !CopiesTogether(column)) return std::nullopt;
    const Tensor& rows = column.stack();
    types.emplace_back(rows.dtype(), Shape(rows.shape().begin() + 1, rows.shape().end()));
  }
  return types;
}

Message GatherRows(absl::Span<const RowInBlock> rows, bool same_runs) {
  auto joined = std::make_unique<Block>();
  AppendMade(joined->ids, rows.size(), [=](size_t i) { return rows[i].block->ids[static_cast<size_t>(rows[i].row)]; });
  joined->provenances.reserve(rows.size());
  for (const RowInBlock& row : rows) joined->provenances.Append(row.block->provenances, static_cast<size_t>(row.row));
  for (size_t c = 0; c < rows[0].block->columns.size(); ++c) {
    joined->columns.push_back(same_runs ? CopyColumn(rows, c) : MoveColumn(rows, c));
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
