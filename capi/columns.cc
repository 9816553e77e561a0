#include <algorithm>
#include <string_view>
#include <vector>

#include "capi/call_status.h"
#include "capi/graph_handle.h"
#include "core/error.h"
#include "ir/type.h"

namespace headrace::capi {
namespace {

absl::Status DescribeColumn(const ir::Column& described, hr_column& column) {
  const ir::ColumnType& type = described.type;
  column = {sizeof(hr_column), static_cast<int32_t>(type.dtype), -1, 0, {}, described.name.c_str()};
  if (!type.shape) return absl::OkStatus();
  if (type.shape->size() > HR_MOST_AXES) {
    return OfColumn(
        UnsupportedError("a column may have ", HR_MOST_AXES, " axes; ", described.name, " has ", type.shape->size()),
        described.name);
  }
  column.axes = static_cast<int32_t>(type.shape->size());
  std::copy(type.shape->begin(), type.shape->end(), column.shape);
  return absl::OkStatus();
}

hr_status* Describe(const hr_graph* graph, bool outputs, size_t index, hr_column* column) {
  return Guarded([&]() -> absl::Status {
    if (graph == nullptr) return ArgumentError("graph is NULL");
    if (column == nullptr) return ArgumentError("column is NULL");
    if (column->size != sizeof(hr_column)) {
      return ArgumentError("size must be sizeof(hr_column), which is ", sizeof(hr_column), " here; got ", column->size);
    }
    const std::vector<ir::Column>& columns = outputs ? graph->graph->outputs() : graph->graph->inputs();
    if (index < columns.size()) return DescribeColumn(columns[index], *column);
    return ArgumentError("index must be less than ", columns.size(), ", the number of ", outputs ? "outputs" : "inputs",
                         "; got ", index);
  });
}

}  // namespace
}  // namespace headrace::capi

size_t hr_input_count(const hr_graph* graph) { return graph == nullptr ? 0 : graph->graph->inputs().size(); }

size_t hr_output_count(const hr_graph* graph) { return graph == nullptr ? 0 : graph->graph->outputs().size(); }

hr_status* hr_input(const hr_graph* graph, size_t index, hr_column* column) {
  return headrace::capi::Describe(graph, false, index, column);
}

hr_status* hr_output(const hr_graph* graph, size_t index, hr_column* column) {
  return headrace::capi::Describe(graph, true, index, column);
}

const char* hr_graph_hash(const hr_graph* graph) { return graph == nullptr ? "" : graph->graph->hash().c_str(); }
