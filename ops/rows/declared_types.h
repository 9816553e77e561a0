// `CheckDeclared` checks a user function's results against its declared types.
// Threads: a pure function.
#ifndef HEADRACE_OPS_ROWS_DECLARED_TYPES_H_
#define HEADRACE_OPS_ROWS_DECLARED_TYPES_H_

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/tensor.h"
#include "core/text.h"
#include "ir/type.h"

namespace headrace {

// What to write where an array is of another type of numbers than its column: Python's own floats are float64.
inline std::string AdviceOnType(const ir::ColumnType& declared, DType given) {
  const auto holds_numbers = [](DType dtype) { return IsFloating(dtype) || IsInteger(dtype) || dtype == DType::kBool; };
  if (declared.dtype == given || !holds_numbers(declared.dtype) || !holds_numbers(given)) return "";
  return Cat("; return array.astype(\"", DTypeName(declared.dtype), "\"), or declare ", DTypeName(given));
}

// kData, naming the column and both types. What is not declared may be anything.
inline absl::Status CheckDeclared(const ir::Columns& declared, absl::Span<const Tensor> results) {
  for (size_t i = 0; i < std::min(declared.size(), results.size()); ++i) {
    if (ir::FitsType(declared[i].type, results[i].dtype(), results[i].shape())) continue;
    return DataError("the function gave ", results[i].TypeName(), " for column \"", declared[i].name,
                     "\", which was declared as ", ir::TypeName(declared[i].type),
                     AdviceOnType(declared[i].type, results[i].dtype()));
  }
  return absl::OkStatus();
}

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_DECLARED_TYPES_H_
