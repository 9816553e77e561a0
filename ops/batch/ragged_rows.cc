#include "ops/batch/ragged_rows.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "ir/type.h"

namespace headrace {
namespace {

constexpr int64_t kFirstRaggedBytes = 1024;

// "float32 (None, 4)".
std::string TypeOfRows(const Tensor& row) {
  ir::ColumnType type = ir::ColumnType::Of(row.dtype(), row.shape());
  type.shape->front() = ir::kUnknownDim;
  return ir::TypeName(type);
}

size_t BytesOf(const Tensor& strings) {
  return strings.bytes() + (static_cast<size_t>(strings.elements()) + 1) * sizeof(int64_t);
}

}  // namespace

absl::Status RaggedRows::Fits(const Tensor& row) const {
  if (row.rank() == 0) {
    return GraphError("a ragged column needs rows with a first axis; this one is ", row.TypeName());
  }
  const Tensor& before = strings_.empty() ? whole_ : strings_[0];
  if (!before.valid()) return absl::OkStatus();
  const bool same = before.dtype() == row.dtype() && before.rank() == row.rank() &&
                    std::equal(row.shape().begin() + 1, row.shape().end(), before.shape().begin() + 1);
  if (same) return absl::OkStatus();
  return GraphError("rows of a batch differ: ", TypeOfRows(before), " before, and here ", row.TypeName(), "; ",
                    before.dtype() != row.dtype()
                        ? "convert them to one dtype (TypeCast)"
                        : "their first axis alone may differ: make the others alike (Resize, PadEnd), or join this "
                          "column by \"pad\"");
}

absl::Status RaggedRows::Grow(const Tensor& row, int64_t needed) {
  Shape shape = row.shape();
  shape[0] = 1;
  const int64_t entry = std::max<int64_t>(1, ElementCount(shape) * static_cast<int64_t>(ItemSize(row.dtype())));
  const int64_t capacity = whole_.valid() ? whole_.dim(0) : 0;
  shape[0] = std::max({needed, 2 * capacity, kFirstRaggedBytes / entry});
  HEADRACE_ASSIGN_OR_RETURN(Tensor larger, Tensor::Allocate(row.dtype(), shape));
  if (length() > 0) whole_.Slice(0, 0, length()).CopyTo(larger.mutable_raw());
  held_bytes_ += larger.footprint() - (whole_.valid() ? whole_.footprint() : 0);
  whole_ = std::move(larger);
  return absl::OkStatus();
}

absl::Status RaggedRows::AddValues(const Tensor& values) {
  if (IsVariableLength(values.dtype())) {
    held_bytes_ += BytesOf(values);
    strings_.push_back(values);
    return absl::OkStatus();
  }
  const int64_t begin = length();
  const int64_t end = begin + values.dim(0);
  if (!whole_.valid() || whole_.dim(0) < end) HEADRACE_RETURN_IF_ERROR(Grow(values, end));
  if (values.elements() > 0) values.CopyTo(whole_.mutable_raw() + begin * whole_.stride(0));
  return absl::OkStatus();
}

absl::Status RaggedRows::Add(const Tensor& row) {
  HEADRACE_RETURN_IF_ERROR(Fits(row));
  const int64_t end = length() + row.dim(0);
  HEADRACE_RETURN_IF_ERROR(AddValues(row));
  ends_.push_back(end);
  return absl::OkStatus();
}

absl::Status RaggedRows::AddRun(const Tensor& values, absl::Span<const int64_t> splits) {
  HEADRACE_RETURN_IF_ERROR(Fits(values.Slice(0, splits[0], splits[1] - splits[0])));
  const int64_t shift = length() - splits.front();
  HEADRACE_RETURN_IF_ERROR(AddValues(values.Slice(0, splits.front(), splits.back() - splits.front())));
  const size_t rows = ends_.size();
  ends_.resize(rows + splits.size() - 1);
  for (size_t i = 1; i < splits.size(); ++i) ends_[rows + i - 1] = splits[i] + shift;
  return absl::OkStatus();
}

Tensor RaggedRows::last() const {
  const int64_t begin = ends_.size() > 1 ? ends_[ends_.size() - 2] : 0;
  const int64_t count = length() - begin;
  if (strings_.empty()) return whole_.Slice(0, begin, count);
  return strings_.back().Slice(0, strings_.back().dim(0) - count, count);
}

absl::StatusOr<Tensor> RaggedRows::TakeValues() {
  if (!strings_.empty()) return JoinStrings(strings_);
  const Tensor whole = std::move(whole_);
  return whole.Slice(0, 0, length());
}

absl::StatusOr<Tensor> RaggedRows::Splits() const {
  HEADRACE_ASSIGN_OR_RETURN(Tensor splits, Tensor::Allocate(DType::kInt64, {static_cast<int64_t>(ends_.size()) + 1}));
  splits.mutable_data<int64_t>()[0] = 0;
  std::copy(ends_.begin(), ends_.end(), splits.mutable_data<int64_t>() + 1);
  return splits;
}

}  // namespace headrace
