#include "engine/exec/stage_cost.h"

#include <algorithm>

namespace headrace {
namespace {

// A message that takes less is light.
constexpr uint64_t kLightNs = 200'000;

// The mean of about the last eight tasks; 0: there was none.
void MoveMean(std::atomic<uint64_t>& mean, uint64_t value) {
  const uint64_t before = mean.load(std::memory_order_relaxed);
  mean.store(before == 0 ? value : (before * 7 + value + 7) / 8, std::memory_order_relaxed);
}

}  // namespace

void StageCost::NoteTask(uint64_t elapsed_ns, int messages, uint64_t rows, int64_t peak) {
  const auto count = static_cast<uint64_t>(std::max(1, messages));
  RaiseTo(task_bytes_, std::max<int64_t>(1, peak / static_cast<int64_t>(count)));
  MoveMean(message_ns_, std::max<uint64_t>(1, elapsed_ns / count));
  if (rows > 0) MoveMean(row_ns_, std::max<uint64_t>(1, elapsed_ns / rows));
}

void StageCost::NoteRowBytes(int64_t bytes) { RaiseTo(row_bytes_, bytes); }

bool StageCost::light() const {
  const uint64_t cost = message_ns_.load(std::memory_order_relaxed);
  return cost > 0 && cost < kLightNs;
}

int StageCost::MessagesIn(uint64_t task_ns, int most) const {
  const uint64_t cost = message_ns_.load(std::memory_order_relaxed);
  if (cost == 0 || task_bytes() == 0) return 1;
  return static_cast<int>(std::clamp<uint64_t>(task_ns / cost, 1, static_cast<uint64_t>(most)));
}

}  // namespace headrace
