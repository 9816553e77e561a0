// `SkippedRows` takes the rows that a run leaves out because they failed, in the order of the rows: it counts them up
// to the limit of an epoch, reports them by operator, and writes them to a log. A skipped row is counted when the next
// result row has been delivered.
// Threads: the user's thread; reports from any.
#ifndef HEADRACE_ENGINE_EXEC_SKIPPED_ROWS_H_
#define HEADRACE_ENGINE_EXEC_SKIPPED_ROWS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/exec/skipped_rows_log.h"
#include "engine/operator/failed_row.h"
#include "engine/operator/row_warnings.h"

namespace headrace {

class SkippedRows {
 public:
  // `most` of an epoch; `before`: those of the first epoch that were left out before the run.
  SkippedRows(uint64_t most, uint64_t before) : most_(most), counted_(before) {}

  // Appends a line for each row to the file at `path`. kNotFound if it cannot be opened.
  absl::Status LogTo(const std::string& path);
  // Leaves out a row of `epoch`. If there are now more than allowed, returns that row's error, which says so.
  absl::Status Add(uint64_t epoch, const FailedRow& row);
  // The row of the result after those left out was given.
  void Given();
  void EndEpoch() { counted_ = ahead_ = 0; }
  // Rows of the epoch left out before the row given last.
  uint64_t counted() const { return counted_; }

  // One for each operator.
  std::vector<WarningReport> reports() const;

 private:
  absl::Status LimitError(uint64_t epoch, const FailedRow& row) const;

  const uint64_t most_;
  uint64_t counted_;
  uint64_t ahead_ = 0;  // left out since the row given last
  std::unique_ptr<SkippedRowsLog> log_;
  std::vector<std::string> first_;  // names, at most RowWarnings::kNamed
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<RowWarnings>> by_operator_;  // under the lock
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_SKIPPED_ROWS_H_
