#include "engine/run_control.h"

namespace headrace {

bool RunControl::Enter(int64_t bytes) {
  if (budget_ != kNoBudget && !account_->TryCharge(bytes, budget_)) return false;
  running_.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

void RunControl::Leave() {
  running_.fetch_sub(1, std::memory_order_seq_cst);
  WakeMemoryWaiters();
}

}  // namespace headrace
