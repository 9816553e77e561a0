// Whether what the user's own arrays and functions give is what the graph says they give. Pure functions.
#ifndef HEADRACE_OPS_SOURCE_DECLARED_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_DECLARED_COLUMNS_H_

#include "absl/status/status.h"
#include "core/tensor.h"
#include "ir/type.h"

namespace headrace {

// True for the dtype declared, if one is, and the shape, where it is known.
bool FitsType(const ir::ColumnType& type, DType dtype, absl::Span<const int64_t> shape);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_DECLARED_COLUMNS_H_
