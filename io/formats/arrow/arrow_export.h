// `ExportArrow` gives the columns of a batch as an Arrow array, which shares their memory where it can: numbers and the
// elements of lists as they are, axes after the first as tensors of fixed shape (arrow.fixed_shape_tensor), texts as
// utf8, byte strings as binary. What it fills is released by its consumer, from any thread. Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_ARROW_ARROW_EXPORT_H_
#define HEADRACE_IO_FORMATS_ARROW_ARROW_EXPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "io/formats/arrow/c_data.h"

namespace headrace {

struct ExportedColumn {
  std::string name;
  Tensor values;       // the first axis counts the rows, or, with splits, the elements of all of them
  Tensor splits = {};  // int64 (rows + 1), which were checked; not valid: it is no list
};

// The number of rows, which all columns have. kUnsupported: a column has no axis of rows; kGraph: columns differ in it.
absl::StatusOr<int64_t> ExportedRows(const std::vector<ExportedColumn>& columns);

// kUnsupported: a column has a dtype that Arrow lacks; kData: a text is not UTF-8; kResource: texts, byte strings or
// elements of lists that have more than 2 GiB or 2^31 of them, or there is no memory.
absl::Status ExportArrowSchema(const std::vector<ExportedColumn>& columns, ArrowSchema& schema);
absl::Status ExportArrow(const std::vector<ExportedColumn>& columns, int64_t rows, ArrowArray& array);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_ARROW_EXPORT_H_
