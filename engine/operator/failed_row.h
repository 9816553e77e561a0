// `FailedRow` is a row that failed, under the policy to skip such rows (Dataset.on_error). It keeps its number: it
// travels as a tombstone, a block of one row without columns, until a filter, a batch or the delivery to the user
// removes it. A removed row travels on as a note in the next block, so that removals are counted in the order of the
// rows.
// Threads: values.
#ifndef HEADRACE_ENGINE_OPERATOR_FAILED_ROW_H_
#define HEADRACE_ENGINE_OPERATOR_FAILED_ROW_H_

#include <string_view>

#include "absl/status/status.h"
#include "core/row_id.h"

namespace headrace {

struct FailedRow {
  RowId id;
  Provenance provenance;
  absl::Status error;
};

// Whether the error is one row's own, so that the row alone can be left out: kData, kNotFound or kFunction, but not a
// fault of the disk that may pass.
bool IsOfOneRow(const absl::Status& error);

// The error of a row that does not fit what is done with it, where the types that are known before the run do not
// decide that: kData instead of kGraph, which stands for a pipeline that cannot run. Other kinds stay.
absl::Status DecidedByRow(const absl::Status& error);

// For a pass, a batch or an epoch ("this epoch") of which no row is left: that of the last row, and says so.
absl::Status NothingLeftError(std::string_view of, const absl::Status& last);
bool IsNothingLeft(const absl::Status& error);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_FAILED_ROW_H_
