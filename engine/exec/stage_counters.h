// `StageCounters` counts what a stage does, and how long it is blocked, for the stage's report. Use StageCost for
// figures that decide how tasks are made.
// Threads: TaskBegan and Blocked under the stage's lock, the rest from any thread.
#ifndef HEADRACE_ENGINE_EXEC_STAGE_COUNTERS_H_
#define HEADRACE_ENGINE_EXEC_STAGE_COUNTERS_H_

#include <atomic>
#include <cstdint>

#include "engine/exec/stage_report.h"

namespace headrace {

// Why a stage has no task that can run. kTurn: it runs already, has ended, or waits for Ask.
enum class BlockedReason : uint8_t { kNone, kInput, kOutput, kMemory, kTurn };

class StageCounters {
 public:
  // A task began; `running`: the tasks that run now.
  void TaskBegan(int running);
  void TaskEnded(uint64_t elapsed_ns);
  // No task can be claimed, for `reason`. It counts from the end of the last task on.
  void Blocked(BlockedReason reason, int running) {
    if (running == 0) NoteBlocked(reason);
  }
  void GaveOut(uint64_t rows, uint64_t messages, uint64_t bytes);
  // Part of what was given out was found in a cache.
  void Found(uint64_t rows, uint64_t bytes);
  // A row that no cache had took so long to read.
  void Read(uint64_t ns) { Add(read_ns_, ns); }
  // How many tasks the next one represents in the measurement of CPU time, which takes a system call: a light task
  // represents several, or none.
  uint64_t CpuWeight(bool light) const;
  void UsedCpu(uint64_t ns) { Add(cpu_ns_, ns); }

  // Rows given out.
  uint64_t rows() const { return rows_.load(std::memory_order_relaxed); }
  // Sets the report's counts and times.
  void Fill(StageReport& report) const;

 private:
  using Count = std::atomic<uint64_t>;

  static void Add(Count& count, uint64_t more) { count.fetch_add(more, std::memory_order_relaxed); }
  void NoteBlocked(BlockedReason reason);

  Count rows_{0};         // given out
  Count messages_{0};     // given out
  Count bytes_{0};        // given out
  Count found_rows_{0};   // part of rows_
  Count found_bytes_{0};  // part of bytes_
  Count read_ns_{0};      // part of busy_ns_; not known without a cache
  Count tasks_{0};
  Count busy_ns_{0};         // summed over workers
  Count cpu_ns_{0};          // part of busy_ns_ on the CPU, if the stage reads files
  Count input_wait_ns_{0};   // no task running, for want of input
  Count output_wait_ns_{0};  // no task running, for want of a slot
  Count memory_wait_ns_{0};  // no task running, for want of memory
  Count widest_{0};          // most tasks at once
  BlockedReason blocked_ = BlockedReason::kNone;
  uint64_t blocked_since_ns_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_STAGE_COUNTERS_H_
