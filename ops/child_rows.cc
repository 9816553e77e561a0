#include "ops/child_rows.h"

#include <algorithm>
#include <memory>

#include "core/error.h"

namespace headrace {

absl::StatusOr<int64_t> ChildRows::CountOf(const Block& block, int row) const {
  int64_t rows = -1;
  for (size_t i = 0; i < block.columns.size(); ++i) {
    const Tensor tensor = block.columns[i].row(row);
    HEADRACE_RETURN_IF_ERROR(CheckLength(i, tensor, rows));
    rows = tensor.dim(0);
  }
  return std::max<int64_t>(0, rows);
}

absl::Status ChildRows::CheckLength(size_t column, const Tensor& tensor, int64_t rows) const {
  if (tensor.rank() == 0) {
    return DataError("column \"", names_[column], "\" is ", tensor.TypeName(), ": it has no first axis to ", op_);
  }
  if (rows < 0 || tensor.dim(0) == rows) return absl::OkStatus();
  return DataError("columns \"", names_[0], "\" and \"", names_[column], "\" have ", rows, " and ", tensor.dim(0),
                   " rows: ", op_, " needs first axes of equal length");
}

Message ChildRows::Take(const Block& block, int row, int64_t from, int64_t count) const {
  auto part = std::make_unique<Block>();
  part->epoch = block.epoch;
  for (const BlockColumn& column : block.columns) {
    const Tensor all = column.row(row);
    part->columns.push_back(BlockColumn::Stacked(count == all.dim(0) ? all : all.Slice(0, from, count)));
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
  ir::Schema schema = input;
  int64_t rows = ir::kUnknownDim;
  std::string first;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const ir::Column& column = schema.columns[i];
    if (!column.type.shape.has_value()) continue;
    Shape& shape = *schema.columns.type(i).shape;
    if (shape.empty()) {
      return GraphError("column \"", column.name, "\" is ", ir::TypeName(column.type), ": it has no first axis to ", op,
                        "; drop it with project first");
    }
    const int64_t length = shape[0];
    if (length != ir::kUnknownDim && rows != ir::kUnknownDim && length != rows) {
      return GraphError("columns \"", first, "\" and \"", column.name, "\" have ", rows, " and ", length, " rows: ", op,
                        " needs first axes of equal length");
    }
    if (length != ir::kUnknownDim && rows == ir::kUnknownDim) {
      rows = length;
      first = column.name;
    }
    shape.erase(shape.begin());
  }
  return schema;
}

Cardinality CountChildren(const ir::Schema& input, const Cardinality& rows) {
  for (const ir::Column& column : input.columns) {
    const bool known = column.type.shape.has_value() && !column.type.shape->empty();
    if (!known || (*column.type.shape)[0] == ir::kUnknownDim || !rows.known()) continue;
    return Cardinality::Product(rows.rows, static_cast<uint64_t>((*column.type.shape)[0]));
  }
  return rows.kind == Cardinality::Kind::kEndless ? rows : Cardinality::Unknown();
}

}  // namespace headrace
