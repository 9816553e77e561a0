#include "ir/list_columns.h"

#include "ir/ragged_columns.h"

namespace headrace::ir {

std::vector<DeliveredColumn> DeliveredColumns(const Schema& schema) {
  std::vector<int> splits_of(schema.columns.size(), -1);
  std::vector<bool> hidden(schema.columns.size(), false);
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    splits_of[i] = ListSplitsOf(schema, schema.columns[i].name);
    if (splits_of[i] >= 0) hidden[static_cast<size_t>(splits_of[i])] = true;
  }
  std::vector<DeliveredColumn> delivered;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    if (!hidden[i]) delivered.push_back({i, splits_of[i]});
  }
  return delivered;
}

std::optional<Shape> DeliveredShape(const Schema& schema, const DeliveredColumn& column) {
  std::optional<Shape> shape = schema.columns[column.column].type.shape;
  if (!shape.has_value() || column.splits < 0) return shape;
  // A graph of others may say less of its splits.
  const std::optional<Shape>& splits = schema.columns[static_cast<size_t>(column.splits)].type.shape;
  const bool known = splits.has_value() && !splits->empty() && splits->front() > 0;
  shape->insert(shape->begin(), known ? splits->front() - 1 : kUnknownDim);
  return shape;
}

}  // namespace headrace::ir
