#include "engine/exec/stage_cap.h"

#include <algorithm>

namespace headrace {

StageCap::StageCap(const PlannedStage& plan)
    : plan_(plan),
      read_ahead_(plan.first_cap.has_value() ? std::make_unique<ReadAhead>(*plan.first_cap, plan.cap) : nullptr) {}

void StageCap::Set(int tasks) { set_.store(std::min(tasks, plan_.most_cap), std::memory_order_relaxed); }

void StageCap::NoteReads(uint64_t now_ns, uint64_t elapsed_ns, int messages, int queued, int window) {
  if (!read_ahead_ || set_.load(std::memory_order_relaxed) > 0) return;
  const bool starved = 16 * queued <= std::max(16, window);
  read_ahead_->Ended(now_ns, elapsed_ns, std::max(1, messages), starved);
}

void StageCap::Fill(StageReport& report, uint64_t made_ns) const {
  report.cap = PlannedStage::InOrder(plan_.kind) ? 1 : now();
  report.set_cap = set_.load(std::memory_order_relaxed);
  if (!read_ahead_) return;
  report.most_cap = read_ahead_->most();
  report.reads_short_s = static_cast<double>(read_ahead_->short_ns()) * 1e-9;
  for (const ReadAhead::Change& change : read_ahead_->changes()) {
    report.caps.push_back({static_cast<double>(change.at_ns - made_ns) * 1e-9, change.limit, change.per_second});
  }
}

}  // namespace headrace
