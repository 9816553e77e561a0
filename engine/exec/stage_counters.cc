#include "engine/exec/stage_counters.h"

#include "core/clock.h"
#include "engine/exec/stage_cost.h"

namespace headrace {
namespace {

// CPU time is measured of one in so many light tasks.
constexpr uint64_t kSampled = 8;

}  // namespace

void StageCounters::TaskBegan(int running) {
  Blocked(BlockedReason::kNone, running - 1);
  RaiseTo(widest_, static_cast<uint64_t>(running));
}

void StageCounters::TaskEnded(uint64_t elapsed_ns) {
  Add(tasks_, 1);
  Add(busy_ns_, elapsed_ns);
}

void StageCounters::GaveOut(uint64_t rows, uint64_t messages, uint64_t bytes) {
  Add(rows_, rows);
  Add(messages_, messages);
  Add(bytes_, bytes);
}

void StageCounters::Found(uint64_t rows, uint64_t bytes) {
  Add(found_rows_, rows);
  Add(found_bytes_, bytes);
}

uint64_t StageCounters::CpuWeight(bool light) const {
  if (!light) return 1;
  return tasks_.load(std::memory_order_relaxed) % kSampled == 0 ? kSampled : 0;
}

void StageCounters::Fill(StageReport& report) const {
  const auto value = [](const Count& count) { return count.load(std::memory_order_relaxed); };
  const auto seconds = [value](const Count& ns) { return static_cast<double>(value(ns)) * 1e-9; };
  report.rows = value(rows_);
  report.messages = value(messages_);
  report.tasks = value(tasks_);
  report.widest = value(widest_);
  report.bytes = value(bytes_);
  report.found_rows = value(found_rows_);
  report.found_bytes = value(found_bytes_);
  report.read_s = seconds(read_ns_);
  report.busy_s = seconds(busy_ns_);
  report.input_wait_s = seconds(input_wait_ns_);
  report.output_wait_s = seconds(output_wait_ns_);
  report.memory_wait_s = seconds(memory_wait_ns_);
  report.cpu_s = seconds(cpu_ns_);
}

void StageCounters::NoteBlocked(BlockedReason reason) {
  if (reason == blocked_) return;
  const uint64_t now = NowNs();
  const uint64_t waited = now - blocked_since_ns_;
  if (blocked_ == BlockedReason::kInput) Add(input_wait_ns_, waited);
  if (blocked_ == BlockedReason::kOutput) Add(output_wait_ns_, waited);
  if (blocked_ == BlockedReason::kMemory) Add(memory_wait_ns_, waited);
  blocked_ = reason;
  blocked_since_ns_ = now;
}

}  // namespace headrace
