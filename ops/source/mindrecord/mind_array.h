// `MindArrayColumn` makes a column of the arrays of a MindRecord field, all of them in one buffer.
// Threads: a pure function.
#ifndef HEADRACE_OPS_SOURCE_MINDRECORD_MIND_ARRAY_H_
#define HEADRACE_OPS_SOURCE_MINDRECORD_MIND_ARRAY_H_

#include <cstddef>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "engine/operator/block.h"
#include "io/formats/mindrecord/mind_header.h"

namespace headrace {

// The bytes of the array of a row.
using BytesOfRow = absl::FunctionRef<std::string_view(size_t row)>;

// `packed`: as version 3.0 has integers. Returns how many rows the column has: fewer
// if the next row's array is damaged, or does not have the field's shape, for the reason in `wrong`. Without a row
// there is no column.
size_t MindArrayColumn(const MindField& field, bool packed, size_t rows, BytesOfRow bytes_of, BlockColumn& column,
                       absl::Status& wrong);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MINDRECORD_MIND_ARRAY_H_
