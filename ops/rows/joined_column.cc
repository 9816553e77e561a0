#include "ops/rows/joined_column.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/tensor.h"

namespace headrace {
namespace {

using Runs = absl::Span<const BlockColumn>;

// The rows along a first axis; nullopt: they are not in one buffer.
std::optional<Tensor> StackOf(const BlockColumn& run) {
  if (run.sliceable()) return run.stack();
  if (run.stacked() || run.ragged() || run.rows() != 1) return std::nullopt;
  const Tensor row = run.row(0);
  if (!row.contiguous()) return std::nullopt;
  if (IsVariableLength(row.dtype())) {
    if (row.rank() > 0) return std::nullopt;
    absl::StatusOr<Tensor> strings = Tensor::CopyBytesArray(row.dtype(), {1}, {row.bytes_value()});
    return strings.ok() ? std::optional(*std::move(strings)) : std::nullopt;
  }
  Shape shape = row.shape();
  shape.insert(shape.begin(), 1);
  return row.Reshape(shape);
}

// The values of ragged rows; nullopt: they are not in one buffer.
std::optional<Tensor> ValuesOfRun(const BlockColumn& run) {
  if (run.ragged()) return run.ValuesOf(0, run.rows());
  if (run.stacked() || run.rows() != 1) return std::nullopt;
  const Tensor row = run.row(0);
  return row.contiguous() && row.rank() > 0 ? std::optional(row) : std::nullopt;
}

// All or none of them, of one dtype and of equal further axes.
template <typename Take>
std::vector<Tensor> Taken(Runs runs, Take take) {
  std::vector<Tensor> taken;
  taken.reserve(runs.size());
  for (const BlockColumn& run : runs) {
    std::optional<Tensor> tensor = take(run);
    if (!tensor.has_value()) return {};
    const Tensor& first = taken.empty() ? *tensor : taken[0];
    const bool alike = tensor->dtype() == first.dtype() && tensor->rank() == first.rank() &&
                       std::equal(first.shape().begin() + 1, first.shape().end(), tensor->shape().begin() + 1);
    if (!alike) return {};
    taken.push_back(*std::move(tensor));
  }
  return taken;
}

absl::StatusOr<Tensor> EndToEnd(const std::vector<Tensor>& arrays) {
  if (IsVariableLength(arrays[0].dtype())) return JoinStrings(arrays);
  Shape shape = arrays[0].shape();
  shape[0] = 0;
  for (const Tensor& array : arrays) shape[0] += array.dim(0);
  HEADRACE_ASSIGN_OR_RETURN(Tensor joined, Tensor::Allocate(arrays[0].dtype(), shape));
  uint8_t* target = joined.mutable_raw();
  for (const Tensor& array : arrays) {
    const size_t bytes = array.bytes();
    if (bytes > 0) std::memcpy(target, array.raw(), bytes);
    target += bytes;
  }
  return joined;
}

absl::StatusOr<Tensor> SplitsOfRuns(Runs runs) {
  int64_t rows = 0;
  for (const BlockColumn& run : runs) rows += run.rows();
  HEADRACE_ASSIGN_OR_RETURN(Tensor splits, Tensor::Allocate(DType::kInt64, {rows + 1}));
  auto* split = splits.mutable_data<int64_t>();
  *split = 0;
  for (const BlockColumn& run : runs) {
    const int64_t begin = *split;
    if (!run.ragged()) {
      *++split = begin + run.row(0).dim(0);
      continue;
    }
    const absl::Span<const int64_t> of_run = run.splits();
    for (const int64_t end : of_run.subspan(1)) *++split = begin + end - of_run[0];
  }
  return splits;
}

std::optional<BlockColumn> JoinRaggedRuns(Runs runs) {
  const std::vector<Tensor> values = Taken(runs, ValuesOfRun);
  if (values.empty()) return std::nullopt;
  absl::StatusOr<Tensor> joined = EndToEnd(values);
  absl::StatusOr<Tensor> splits = SplitsOfRuns(runs);
  if (!joined.ok() || !splits.ok()) return std::nullopt;
  return BlockColumn::Ragged(*std::move(joined), *std::move(splits));
}

std::optional<BlockColumn> JoinStacks(Runs runs) {
  const std::vector<Tensor> stacks = Taken(runs, StackOf);
  if (stacks.empty()) return std::nullopt;
  absl::StatusOr<Tensor> joined = EndToEnd(stacks);
  if (!joined.ok()) return std::nullopt;
  return BlockColumn::Stacked(*std::move(joined));
}

}  // namespace

BlockColumn JoinedColumn(absl::Span<BlockColumn> runs) {
  if (runs.size() == 1) return std::move(runs[0]);
  const bool ragged = std::any_of(runs.begin(), runs.end(), [](const BlockColumn& run) { return run.ragged(); });
  std::optional<BlockColumn> joined = ragged ? JoinRaggedRuns(runs) : JoinStacks(runs);
  if (joined.has_value()) return *std::move(joined);
  BlockColumn rows;
  for (BlockColumn& run : runs) {
    for (int i = 0; i < run.rows(); ++i) rows.Append(run.TakeRow(i));
  }
  return rows;
}

}  // namespace headrace
