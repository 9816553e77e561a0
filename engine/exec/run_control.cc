#include "engine/exec/run_control.h"

#include <exception>

#include "core/caught_error.h"
#include "core/error.h"

namespace headrace {
namespace {

// Names the stage, if there is memory for that.
absl::Status CaughtAt(const std::string& where) {
  absl::Status error = CaughtError();
  try {
    AddErrorField(error, ErrorField::kOperator, where);
  } catch (const std::exception&) {
    return CaughtError();
  }
  return error;
}

}  // namespace

bool RunControl::Enter(int64_t bytes, int64_t left) {
  if (budget_ != kNoBudget && !account_->TryCharge(bytes, budget_ - left)) return false;
  running_.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

void RunControl::Abort(const std::string& where) {
  {
    absl::Status error = CaughtAt(where);
    const std::lock_guard<std::mutex> lock(fault_mutex_);
    if (fault_.ok()) fault_ = std::move(error);
  }
  SetClosed();
  Aborted();
}

absl::Status RunControl::fault() const {
  const std::lock_guard<std::mutex> lock(fault_mutex_);
  return fault_;
}

void RunControl::Leave() {
  running_.fetch_sub(1, std::memory_order_seq_cst);
  WakeMemoryWaiters();
}

}  // namespace headrace
