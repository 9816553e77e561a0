// `CheckDeclared` checks a user function's results against its declared types.
// Threads: a pure function.
#ifndef HEADRACE_OPS_ROWS_DECLARED_TYPES_H_
#define HEADRACE_OPS_ROWS_DECLARED_TYPES_H_

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/error.h"
#include "core/tensor.h"
#include "ir/type.h"

namespace headrace {

// kData, naming the column and both types. What is not declared may be anything.
inline absl::Status CheckDeclared(const ir::Columns& declared, absl::Span<const Tensor> results) {
  for (size_t i = 0; i < std::min(declared.size(), results.size()); ++i) {
    if (ir::FitsType(declared[i].type, results[i].dtype(), results[i].shape())) continue;
    return DataError("gave ", results[i].TypeName(), " for column \"", declared[i].name, "\", which was declared as ",
                     ir::TypeName(declared[i].type));
  }
  return absl::OkStatus();
}

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_DECLARED_TYPES_H_
