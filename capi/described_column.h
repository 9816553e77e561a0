// `DescribeColumn` says what a column is, in the structure of the C interface.
// Threads: pure functions.
#ifndef HEADRACE_CAPI_DESCRIBED_COLUMN_H_
#define HEADRACE_CAPI_DESCRIBED_COLUMN_H_

#include "absl/status/status.h"
#include "capi/headrace.h"
#include "ir/type.h"

namespace headrace::capi {

// Its name lives as long as `described`. Argument error: there is no structure, or one of another version.
absl::Status DescribeColumn(const ir::Column& described, hr_column* column);

}  // namespace headrace::capi

#endif  // HEADRACE_CAPI_DESCRIBED_COLUMN_H_
