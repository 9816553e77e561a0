// `ColumnType` is the type of a column as known before anything runs.
// Threads: plain values.
#ifndef HEADRACE_IR_TYPE_H_
#define HEADRACE_IR_TYPE_H_

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/dtype.h"
#include "core/tensor.h"

namespace headrace::ir {

inline constexpr int64_t kUnknownDim = -1;

struct ColumnType {
  DType dtype = DType::kUnknown;
  // nullopt: the rank is unknown. A dimension of kUnknownDim may differ from row to row.
  std::optional<Shape> shape;
  bool optional = false;
  bool ragged = false;
  // Non-empty: a struct of named fields; dtype is then kUnknown.
  std::vector<std::pair<std::string, ColumnType>> fields;

  static ColumnType Of(DType dtype, Shape shape);
  static ColumnType AnyShape(DType dtype) { return {dtype, std::nullopt, false, false, {}}; }
  static ColumnType Unknown() { return {}; }
  // Every row has this dtype and shape, so a batch can allocate slots for rows.
  bool fully_known() const;

  friend bool operator==(const ColumnType&, const ColumnType&) = default;
};

// True if the dtype equals the declared one, if any, and the shape fits as far as it is known.
bool FitsType(const ColumnType& type, DType dtype, absl::Span<const int64_t> shape);

// "uint8 (None, None, 3)", "float32 of any shape", "unknown".
std::string TypeName(const ColumnType& type);

struct Column {
  std::string name;
  ColumnType type;
  friend bool operator==(const Column&, const Column&) = default;
};

// Columns in their order, and by name. Names are unique, and lookup is fast for any number of columns.
class Columns {
 public:
  using const_iterator = std::vector<Column>::const_iterator;

  Columns() = default;
  Columns(std::initializer_list<Column> columns);

  void push_back(Column column);
  ColumnType& type(size_t index) { return columns_[index].type; }
  int IndexOf(std::string_view name) const;  // -1: none

  size_t size() const { return columns_.size(); }
  bool empty() const { return columns_.empty(); }
  const Column& operator[](size_t index) const { return columns_[index]; }
  const_iterator begin() const { return columns_.begin(); }
  const_iterator end() const { return columns_.end(); }
  friend bool operator==(const Columns& a, const Columns& b) { return a.columns_ == b.columns_; }

 private:
  std::vector<Column> columns_;
  // Empty for few columns, where a linear search is faster.
  std::map<std::string, int, std::less<>> indices_;
};

struct Schema {
  Columns columns;

  const Column* Find(std::string_view name) const;
  int IndexOf(std::string_view name) const { return columns.IndexOf(name); }
  std::vector<std::string> Names() const;
  std::vector<ColumnType> Types() const;
  friend bool operator==(const Schema&, const Schema&) = default;
};

// Whether the tensors are a row of the schema: as many, each of its column's type.
bool FitsSchema(const Schema& schema, absl::Span<const Tensor> row);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_TYPE_H_
