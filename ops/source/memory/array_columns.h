// `ArrayColumns` gives columns whose values are the user's arrays, which an operator's attribute `arrays` names: row i
// of a column is element i of its array, or, if the column is ragged, the elements from splits[i] to splits[i + 1].
// Rows are views where they can be. Threads: const; any thread.
#ifndef HEADRACE_OPS_SOURCE_MEMORY_ARRAY_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_MEMORY_ARRAY_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
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
  const Tensor& array(size_t column) const { return columns_[column].array; }
  Tensor Row(size_t column, uint64_t index) const { return columns_[column].Row(index); }
  // `side_by_side`: that of the indices, at least one.
  absl::StatusOr<BlockColumn> Rows(size_t column, absl::Span<const uint64_t> indices, bool side_by_side) const;
  static bool AreSideBySide(absl::Span<const uint64_t> indices);
  // Covers names, types, splits and values; of large arrays, samples of the values.
  uint64_t Hash() const;

 private:
  struct Column {
    std::string name;
    Tensor array;
    // A copy: one that was changed later would lead out of the array. Empty: the column is not ragged.
    std::vector<int64_t> splits;

    int64_t rows() const { return splits.empty() ? array.dim(0) : static_cast<int64_t>(splits.size()) - 1; }
    Tensor Row(uint64_t index) const;
  };
  // `splits`: null if it is not ragged.
  static absl::StatusOr<Column> BindColumn(const ir::Column& column, const Tensor& given, const Tensor* splits);

  explicit ArrayColumns(std::vector<Column> columns) : columns_(std::move(columns)) {}

  std::vector<Column> columns_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MEMORY_ARRAY_COLUMNS_H_
