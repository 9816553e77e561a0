// `ArrayColumns` gives columns whose values are the user's arrays, which an operator's attribute `arrays` names: row i
// of a column is element i of its array, or, if the column is ragged, the elements from splits[i] to splits[i + 1].
// Rows are views where they can be; of arrays that are not row-major, no more than the rows that are asked for is
// copied. Threads: const; any thread.
#ifndef HEADRACE_OPS_SOURCE_MEMORY_ARRAY_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_MEMORY_ARRAY_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/strided_array.h"
#include "core/tensor.h"
#include "engine/operator/operator.h"
#include "ir/type.h"

namespace headrace {

class ArrayColumns {
 public:
  // The arrays of `columns`, of which there is at least one. kGraph: there is no array of the name, it does not fit the
  // column's type, its splits are not splits of it, or arrays differ in their number of rows.
  static absl::StatusOr<ArrayColumns> Bind(const OpArguments& arguments, const ir::Columns& columns);

  uint64_t rows() const { return static_cast<uint64_t>(columns_[0].rows()); }
  size_t size() const { return columns_.size(); }
  // Of a column that is row-major, as all texts are.
  const Tensor& array(size_t column) const { return columns_[column].array; }
  // Fails with kResource if there is no memory for a copy.
  absl::StatusOr<Tensor> Row(size_t column, uint64_t index) const { return columns_[column].Row(index); }
  // `side_by_side`: that of the indices, at least one.
  absl::StatusOr<BlockColumn> Rows(size_t column, absl::Span<const uint64_t> indices, bool side_by_side) const;
  static bool AreSideBySide(absl::Span<const uint64_t> indices);
  // Covers names, types, splits and values; of large arrays, samples of the values.
  uint64_t Hash() const;

 private:
  struct Column {
    std::string name;
    Tensor array;
    std::optional<StridedArray> strided;  // if it is not row-major; `array` is invalid then
    // A copy: one that was changed later would lead out of the array. Empty: the column is not ragged.
    std::vector<int64_t> splits;

    DType dtype() const { return strided.has_value() ? strided->dtype() : array.dtype(); }
    const Shape& shape() const { return strided.has_value() ? strided->shape() : array.shape(); }
    int64_t rows() const { return splits.empty() ? shape()[0] : static_cast<int64_t>(splits.size()) - 1; }
    absl::StatusOr<Tensor> Row(uint64_t index) const;
    absl::StatusOr<Tensor> StridedRow(uint64_t index) const;
    // Of the first axis, row-major; returns where the next one goes.
    uint8_t* CopyElements(int64_t begin, int64_t end, uint8_t* target) const;
    uint64_t Hash(uint64_t hash) const;
  };
  static absl::StatusOr<Column> FindColumn(const HostArrays& given, const std::string& name);
  static absl::Status CheckColumn(const ir::Column& column, const Tensor* splits, Column& found);
  // Of rows that are not ragged, of numbers.
  absl::StatusOr<Tensor> Gather(const Column& column, absl::Span<const uint64_t> indices, bool side_by_side) const;

  absl::StatusOr<BlockColumn> GatherRagged(const Column& column, absl::Span<const uint64_t> indices,
                                           bool side_by_side) const;

  explicit ArrayColumns(std::vector<Column> columns) : columns_(std::move(columns)) {}

  std::vector<Column> columns_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MEMORY_ARRAY_COLUMNS_H_
