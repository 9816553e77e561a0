#include "ops/gather_rows.h"

#include <cstring>
#include <memory>
#include <utility>

namespace headrace {
namespace {

bool SameRows(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.rank() == b.rank() &&
         std::equal(a.shape().begin() + 1, a.shape().end(), b.shape().begin() + 1);
}

bool InOnePiece(absl::Span<const RowPlace> rows, size_t column) {
  const Block* seen = nullptr;
  const Tensor* first = nullptr;
  for (const RowPlace& row : rows) {
    if (row.block == seen) continue;
    seen = row.block;
    const Column& values = seen->columns[column];
    if (!values.in_runs()) return false;
    if (first == nullptr) first = &values.stack();
    if (!SameRows(*first, values.stack())) return false;
  }
  return true;
}

template <size_t kBytes>
void CopyFixed(absl::Span<const RowPlace> rows, size_t column, uint8_t* target) {
  for (const RowPlace& row : rows) {
    std::memcpy(target, row.block->columns[column].stack().raw() + static_cast<size_t>(row.row) * kBytes, kBytes);
    target += kBytes;
  }
}

void CopyRows(absl::Span<const RowPlace> rows, size_t column, size_t bytes, uint8_t* target) {
  if (bytes == 8) return CopyFixed<8>(rows, column, target);
  if (bytes == 4) return CopyFixed<4>(rows, column, target);
  for (const RowPlace& row : rows) {
    std::memcpy(target, row.block->columns[column].stack().raw() + static_cast<size_t>(row.row) * bytes, bytes);
    target += bytes;
  }
}

Column GatherColumn(absl::Span<const RowPlace> rows, size_t column) {
  if (InOnePiece(rows, column)) {
    const Tensor& like = rows[0].block->columns[column].stack();
    Shape shape = like.shape();
    shape[0] = static_cast<int64_t>(rows.size());
    absl::StatusOr<Tensor> joined = Tensor::Allocate(like.dtype(), shape);
    if (joined.ok()) {
      CopyRows(rows, column, joined->bytes() / rows.size(), joined->mutable_raw());
      return Column::Stacked(*std::move(joined));
    }
    // Goes without a piece of its own where there is no memory for it.
  }
  Column joined;
  for (const RowPlace& row : rows) joined.Append(row.block->columns[column].TakeRow(row.row));
  return joined;
}

}  // namespace

Message GatherRows(absl::Span<const RowPlace> rows) {
  auto joined = std::make_unique<Block>();
  joined->ids.reserve(rows.size());
  joined->origins.reserve(rows.size());
  for (const RowPlace& row : rows) {
    joined->ids.push_back(row.block->ids[static_cast<size_t>(row.row)]);
    joined->origins.push_back(std::move(row.block->origins[static_cast<size_t>(row.row)]));
  }
  for (size_t c = 0; c < rows[0].block->columns.size(); ++c) joined->columns.push_back(GatherColumn(rows, c));
  return joined;
}

}  // namespace headrace
