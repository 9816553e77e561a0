#include "python/binding/values/delivered_columns.h"

#include "ir/ragged_columns.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {

namespace py = pybind11;

std::vector<DeliveredColumn> DeliveredColumns(const ir::Schema& schema) {
  std::vector<int> splits_of(schema.columns.size(), -1);
  std::vector<bool> hidden(schema.columns.size(), false);
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    splits_of[i] = ir::ListSplitsOf(schema, schema.columns[i].name);
    if (splits_of[i] >= 0) hidden[static_cast<size_t>(splits_of[i])] = true;
  }
  std::vector<DeliveredColumn> delivered;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    if (!hidden[i]) delivered.push_back({i, splits_of[i]});
  }
  return delivered;
}

std::optional<Shape> DeliveredShape(const ir::Schema& schema, const DeliveredColumn& column) {
  std::optional<Shape> shape = schema.columns[column.column].type.shape;
  if (!shape.has_value() || column.splits < 0) return shape;
  const Shape& splits = *schema.columns[static_cast<size_t>(column.splits)].type.shape;
  shape->insert(shape->begin(), splits[0] == ir::kUnknownDim ? splits[0] : splits[0] - 1);
  return shape;
}

py::list ListOf(const Tensor& values, const Tensor& splits, const std::function<py::object(const Tensor& row)>& make) {
  RaiseIfError(ir::CheckSplits(splits, values));
  const int64_t* const ends = splits.data<int64_t>();
  py::list rows;
  for (int64_t i = 0; i + 1 < splits.dim(0); ++i) rows.append(make(values.Slice(0, ends[i], ends[i + 1] - ends[i])));
  return rows;
}

}  // namespace headrace::python
