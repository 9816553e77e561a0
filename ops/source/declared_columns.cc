#include "ops/source/declared_columns.h"

#include <algorithm>

namespace headrace {

bool FitsType(const ir::ColumnType& type, DType dtype, absl::Span<const int64_t> shape) {
  if (type.dtype != DType::kUnknown && type.dtype != dtype) return false;
  if (!type.shape.has_value()) return true;
  return std::equal(type.shape->begin(), type.shape->end(), shape.begin(), shape.end(),
                    [](int64_t declared, int64_t dim) { return declared == ir::kUnknownDim || declared == dim; });
}

}  // namespace headrace
