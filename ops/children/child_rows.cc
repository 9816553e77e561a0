#include "ops/children/child_rows.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "ir/ragged_columns.h"

namespace headrace {

namespace {

// The columns of splits are left out.
absl::StatusOr<std::vector<ChildColumn>> ColumnsOf(const ir::Schema& schema) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<ir::RaggedColumn> ragged, ir::RaggedColumns(schema));
  std::vector<int> splits_of(schema.columns.size(), -1);
  for (const ir::RaggedColumn& column : ragged) splits_of[static_cast<size_t>(column.values)] = column.splits;
  std::vector<ChildColumn> columns;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    if (!schema.columns[i].type.ragged) columns.push_back({static_cast<int>(i), splits_of[i]});
  }
  return columns;
}

// How many there are in a row, as far as the column's type says.
int64_t KnownCount(const ChildColumn& child, const ir::Schema& schema) {
  const bool ragged = child.splits >= 0;
  const std::optional<Shape>& shape = schema.columns[ragged ? child.splits : child.column].type.shape;
  const int64_t length = shape.has_value() && !shape->empty() ? shape->front() : ir::kUnknownDim;
  return ragged && length != ir::kUnknownDim ? length - 1 : length;
}

BlockColumn RowsOf(const Tensor& values, const int64_t* ends, int64_t count) {
  BlockColumn rows;
  for (int64_t i = 0; i < count; ++i) rows.Append(values.Slice(0, ends[i], ends[i + 1] - ends[i]));
  return rows;
}

}  // namespace

ChildRows::ChildRows(std::string op, const ir::Schema& schema)
    : op_(std::move(op)), columns_(ColumnsOf(schema).value_or(std::vector<ChildColumn>())), names_(schema.Names()) {}

absl::StatusOr<int64_t> ChildRows::CountOf(const Block& block, int row) const {
  int64_t rows = -1;
  for (const ChildColumn& column : columns_) {
    HEADRACE_ASSIGN_OR_RETURN(const int64_t length, LengthOf(column, block, row));
    if (rows >= 0 && length != rows) {
      return DataError("columns \"", names_[columns_[0].column], "\" and \"", names_[column.column], "\" have ", rows,
                       " and ", length, " rows: ", op_, " needs first axes of equal length");
    }
    rows = length;
  }
  return std::max<int64_t>(0, rows);
}

absl::StatusOr<int64_t> ChildRows::LengthOf(const ChildColumn& column, const Block& block, int row) const {
  const Tensor tensor = block.columns[column.column].row(row);
  const std::string& name = names_[column.column];
  if (tensor.rank() == 0) {
    return DataError("column \"", name, "\" is ", tensor.TypeName(), ": it has no first axis to ", op_);
  }
  if (column.splits < 0) return tensor.dim(0);
  const Tensor splits = block.columns[column.splits].row(row);
  const absl::Status status = ir::CheckSplits(splits, tensor);
  if (!status.ok()) return DataError("column \"", name, "\": ", ToStd(status.message()));
  return splits.dim(0) - 1;
}

Message ChildRows::Take(const Block& block, int row, int64_t from, int64_t count) const {
  auto part = std::make_unique<Block>();
  part->epoch = block.epoch;
  for (const ChildColumn& column : columns_) {
    const Tensor all = block.columns[column.column].row(row);
    if (column.splits >= 0) {
      const Tensor splits = block.columns[column.splits].row(row);
      part->columns.push_back(RowsOf(all, splits.data<int64_t>() + from, count));
    } else {
      part->columns.push_back(BlockColumn::Stacked(count == all.dim(0) ? all : all.Slice(0, from, count)));
    }
  }
  const RowId& id = block.ids[row];
  for (int64_t child = from; child < from + count; ++child) {
    part->ids.push_back(id);
    part->ids.back().key = MixKey(id.key, static_cast<uint64_t>(child));
    part->provenances.Append(block.provenances, static_cast<size_t>(row));
  }
  return part;
}

absl::StatusOr<ir::Schema> InferChildren(std::string_view op, const ir::Schema& input) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<ChildColumn> children, ColumnsOf(input));
  ir::Schema schema;
  int64_t rows = ir::kUnknownDim;
  std::string first;
  for (const ChildColumn& child : children) {
    ir::Column column = input.columns[child.column];
    std::optional<Shape>& shape = column.type.shape;
    if (shape.has_value() && shape->empty()) {
      return GraphError("column \"", column.name, "\" is ", ir::TypeName(column.type), ": it has no first axis to ", op,
                        "; drop it with project first");
    }
    const int64_t length = KnownCount(child, input);
    if (length != ir::kUnknownDim && rows != ir::kUnknownDim && length != rows) {
      return GraphError("columns \"", first, "\" and \"", column.name, "\" have ", rows, " and ", length, " rows: ", op,
                        " needs first axes of equal length");
    }
    if (length != ir::kUnknownDim && rows == ir::kUnknownDim) {
      rows = length;
      first = column.name;
    }
    if (shape.has_value() && child.splits < 0) shape->erase(shape->begin());
    if (shape.has_value() && child.splits >= 0) shape->front() = ir::kUnknownDim;
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

Cardinality CountChildren(const ir::Schema& input, const Cardinality& rows) {
  const absl::StatusOr<std::vector<ChildColumn>> children = ColumnsOf(input);
  for (size_t i = 0; children.ok() && rows.known() && i < children->size(); ++i) {
    const int64_t count = KnownCount((*children)[i], input);
    if (count != ir::kUnknownDim) return Cardinality::Product(rows.rows, static_cast<uint64_t>(count));
  }
  return rows.kind == Cardinality::Kind::kEndless ? rows : Cardinality::Unknown();
}

}  // namespace headrace
