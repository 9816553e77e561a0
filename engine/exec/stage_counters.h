// `StageCounters` holds the statistics of a stage for reports; `BlockedTimes` holds how long it was blocked.
// Threads: StageCounters from any thread; BlockedTimes under the stage's lock.
#ifndef HEADRACE_ENGINE_EXEC_STAGE_COUNTERS_H_
#define HEADRACE_ENGINE_EXEC_STAGE_COUNTERS_H_

#include <atomic>
#include <cstdint>

#include "core/clock.h"

namespace headrace {

// Why a stage has no task that can run. kTurn: it runs already, has ended, or waits for Ask.
enum class BlockedReason : uint8_t { kNone, kInput, kOutput, kMemory, kTurn };

struct StageCounters {
  std::atomic<uint64_t> rows{0};         // given out
  std::atomic<uint64_t> messages{0};     // given out
  std::atomic<uint64_t> bytes{0};        // given out
  std::atomic<uint64_t> found_rows{0};   // part of rows: found in a cache
  std::atomic<uint64_t> found_bytes{0};  // part of bytes: in those rows
  std::atomic<uint64_t> read_ns{0};      // part of busy_ns: reads of the other rows; not known without a cache
  std::atomic<uint64_t> tasks{0};
  std::atomic<uint64_t> busy_ns{0};         // summed over workers
  std::atomic<uint64_t> cpu_ns{0};          // part of busy_ns on the CPU, if the stage reads files
  std::atomic<uint64_t> input_wait_ns{0};   // no task running, for want of input
  std::atomic<uint64_t> output_wait_ns{0};  // no task running, for want of a slot
  std::atomic<uint64_t> memory_wait_ns{0};  // no task running, for want of memory
  std::atomic<uint64_t> widest{0};          // most tasks at once
};

// Adds up how long the stage was blocked for each reason, from the end of its last task on.
class BlockedTimes {
 public:
  void Note(BlockedReason reason, StageCounters& counters) {
    if (reason == reason_) return;
    const uint64_t now = NowNs();
    const uint64_t waited = now - since_ns_;
    if (reason_ == BlockedReason::kInput) counters.input_wait_ns.fetch_add(waited, std::memory_order_relaxed);
    if (reason_ == BlockedReason::kOutput) counters.output_wait_ns.fetch_add(waited, std::memory_order_relaxed);
    if (reason_ == BlockedReason::kMemory) counters.memory_wait_ns.fetch_add(waited, std::memory_order_relaxed);
    reason_ = reason;
    since_ns_ = now;
  }

 private:
  BlockedReason reason_ = BlockedReason::kNone;
  uint64_t since_ns_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_STAGE_COUNTERS_H_
