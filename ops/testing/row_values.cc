#include "ops/testing/row_values.h"

#include <utility>

#include "ir/graph.pb.h"
#include "ir/value.h"

namespace headrace {

uint32_t AddRowValues(GraphBuilder& builder, DType dtype, const std::string& array) {
  return builder.Add("Numpy", {},
                     {{"arrays", ir::ReferenceValue(array)},
                      {"columns", ir::ColumnsValue({{{"value", ir::ColumnType::Of(dtype, {})}}})}});
}

RunSpec WithRowValues(Tensor values, uint64_t epochs) {
  RunSpec spec;
  spec.epochs = epochs;
  spec.bindings.arrays["values"].columns = {{"value", std::move(values)}};
  return spec;
}

}  // namespace headrace
