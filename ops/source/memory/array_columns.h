// `ArrayColumns` gives columns whose values are the user's arrays, which an operator's attribute `arrays` names: row i
// of a column is element i of its array. Rows are views where they can be.
// Threads: const; any thread.
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
  // column's type, or arrays differ in their number of rows.
  static absl::StatusOr<ArrayColumns> Bind(const OpArguments& arguments, const ir::Columns& columns);

  uint64_t rows() const { return static_cast<uint64_t>(columns_[0].array.dim(0)); }
  size_t size() const { return columns_.size(); }
  const Tensor& array(size_t column) const { return columns_[column].array; }
  Tensor Row(size_t column, uint64_t index) const { return array(column).Index(static_cast<int64_t>(index)); }
  // `side_by_side`: that of the indices, at least one.
  absl::StatusOr<BlockColumn> Rows(size_t column, absl::Span<const uint64_t> indices, bool side_by_side) const;
  static bool AreSideBySide(absl::Span<const uint64_t> indices);
  // Covers names, types and values; of large arrays, samples.
  uint64_t Hash() const;

 private:
  struct Column {
    std::string name;
    Tensor array;
  };

  explicit ArrayColumns(std::vector<Column> columns) : columns_(std::move(columns)) {}

  std::vector<Column> columns_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MEMORY_ARRAY_COLUMNS_H_
