#include "engine/exec/skipped_rows.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/printable.h"
#include "core/text.h"

namespace headrace {
namespace {

// What a message suggests at least.
constexpr uint64_t kFewErrors = 1000;

std::string NameOf(const FailedRow& row) {
  const std::string file = Printable(DescribeProvenance(row.provenance));
  return file.empty() ? DescribeRowId(row.id) : file;
}

}  // namespace

absl::Status SkippedRows::LogTo(const std::string& path) {
  absl::StatusOr<std::unique_ptr<SkippedRowsLog>> log = SkippedRowsLog::Open(path);
  if (log.ok()) log_ = *std::move(log);
  return log.status();
}

absl::Status SkippedRows::Add(uint64_t epoch, const FailedRow& row) {
  ++ahead_;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string op = GetErrorField(row.error, ErrorField::kOperator);
    const auto same = [&op](const auto& counted) { return counted->report().name == op; };
    auto found = std::find_if(by_operator_.begin(), by_operator_.end(), same);
    if (found == by_operator_.end()) found = by_operator_.insert(found, std::make_unique<RowWarnings>(op));
    (*found)->Add(row.id, row.provenance, ToStd(row.error.message()));
  }
  if (log_ != nullptr) HEADRACE_RETURN_IF_ERROR(log_->Write(epoch, row));
  if (counted_ + ahead_ > most_) return LimitError(epoch, row);
  if (first_.size() < RowWarnings::kNamed) first_.push_back(NameOf(row));
  return absl::OkStatus();
}

void SkippedRows::Given() {
  counted_ += ahead_;
  ahead_ = 0;
}

absl::Status SkippedRows::LimitError(uint64_t epoch, const FailedRow& row) const {
  const uint64_t failed = counted_ + ahead_;
  absl::Status error = Reworded(
      row.error, Cat(failed, failed == 1 ? " row" : " rows", " of epoch ", epoch,
                     " failed, and on_error() allows max_errors=", most_,
                     ": mend or leave out such rows, or raise max_errors, as in on_error(\"skip\", max_errors=",
                     most_ < kFewErrors ? kFewErrors : most_ * 10, "); the last one: ", ToStd(row.error.message())));
  AddErrorField(error, ErrorField::kFile, DescribeProvenance(row.provenance));
  AddErrorField(error, ErrorField::kRow, DescribeRowId(row.id));
  AddErrorField(error, ErrorField::kSkipped, absl::StrJoin(first_, "; "));
  return error;
}

std::vector<WarningReport> SkippedRows::reports() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<WarningReport> reports;
  for (const auto& counted : by_operator_) reports.push_back(counted->report());
  return reports;
}

}  // namespace headrace
