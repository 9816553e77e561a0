#include "ops/batch/padding.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "kernels/numbers/number.h"

namespace headrace {
namespace {

// Copies a row-major block into the corner of a larger row-major one.
void CopyCorner(const uint8_t* source, absl::Span<const int64_t> from, uint8_t* target, absl::Span<const int64_t> to,
                size_t item) {
  if (from.empty()) {
    std::memcpy(target, source, item);
    return;
  }
  const size_t source_step = item * static_cast<size_t>(ElementCount(from.subspan(1)));
  const size_t target_step = item * static_cast<size_t>(ElementCount(to.subspan(1)));
  if (source_step == target_step) {
    if (from[0] > 0) std::memcpy(target, source, source_step * static_cast<size_t>(from[0]));
    return;
  }
  for (int64_t i = 0; i < from[0]; ++i) {
    CopyCorner(source + static_cast<size_t>(i) * source_step, from.subspan(1),
               target + static_cast<size_t>(i) * target_step, to.subspan(1), item);
  }
}

// Texts or bytes, and empty ones in place of those that are not there.
absl::StatusOr<Tensor> StackPaddedStrings(absl::Span<const Tensor> rows, const Shape& largest) {
  Shape shape = largest;
  shape.insert(shape.begin(), static_cast<int64_t>(rows.size()));
  const auto step = static_cast<size_t>(ElementCount(largest));
  std::vector<std::string_view> strings(rows.size() * step);
  for (size_t i = 0; i < rows.size(); ++i) {
    // The elements of a row are numbered as views are, so their numbers are moved to the corner as numbers are.
    std::vector<int64_t> numbers(static_cast<size_t>(rows[i].elements()));
    std::iota(numbers.begin(), numbers.end(), int64_t{0});
    std::vector<int64_t> places(step, -1);
    CopyCorner(reinterpret_cast<const uint8_t*>(numbers.data()), rows[i].shape(),
               reinterpret_cast<uint8_t*>(places.data()), largest, sizeof(int64_t));
    for (size_t at = 0; at < step; ++at) {
      if (places[at] >= 0) strings[i * step + at] = rows[i].bytes_at(places[at]);
    }
  }
  return Tensor::CopyBytesArray(rows[0].dtype(), shape, strings);
}

}  // namespace

absl::StatusOr<Tensor> StackPadded(absl::Span<const Tensor> rows, ir::Number value, int64_t least) {
  Shape largest = rows[0].shape();
  if (!largest.empty()) largest[0] = std::max(largest[0], least);
  bool equal = largest == rows[0].shape();
  for (const Tensor& row : rows) {
    if (row.rank() != rows[0].rank()) {
      return GraphError("rows of a batch differ in rank: ", rows[0].TypeName(), " and ", row.TypeName());
    }
    equal = equal && row.shape() == rows[0].shape();
    for (int axis = 0; axis < row.rank(); ++axis) largest[axis] = std::max(largest[axis], row.dim(axis));
  }
  if (equal) return Stack(rows);
  if (IsVariableLength(rows[0].dtype())) return StackPaddedStrings(rows, largest);
  Shape shape = largest;
  shape.insert(shape.begin(), static_cast<int64_t>(rows.size()));
  HEADRACE_ASSIGN_OR_RETURN(Tensor stacked, Tensor::Allocate(rows[0].dtype(), shape));
  uint8_t element[sizeof(double)];
  HEADRACE_RETURN_IF_ERROR(StoreNumber("pad_value", value, stacked.dtype(), element));
  RepeatElement(element, ItemSize(stacked.dtype()), stacked.elements(), stacked.mutable_raw());
  const size_t step = ItemSize(stacked.dtype()) * static_cast<size_t>(ElementCount(largest));
  for (size_t i = 0; i < rows.size(); ++i) {
    HEADRACE_ASSIGN_OR_RETURN(Tensor row, rows[i].Contiguous());
    CopyCorner(row.raw(), row.shape(), stacked.mutable_raw() + i * step, largest, ItemSize(row.dtype()));
  }
  return stacked;
}

}  // namespace headrace
