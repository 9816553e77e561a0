// `StageCost` measures what the messages and rows of a stage have cost so far, in time and in bytes. This determines
// how many messages are worth one task, and how many rows one message.
// Threads: Note under the stage's lock, the rest from any thread.
#ifndef HEADRACE_ENGINE_EXEC_STAGE_COST_H_
#define HEADRACE_ENGINE_EXEC_STAGE_COST_H_

#include <atomic>
#include <cstdint>

namespace headrace {

class StageCost {
 public:
  // `row_bytes`: of the first message, by its schema; -1: not known.
  explicit StageCost(int64_t row_bytes) : next_bytes_(row_bytes) {}

  // A task of so many messages and rows took `elapsed_ns` and `peak` bytes.
  void NoteTask(uint64_t elapsed_ns, int messages, uint64_t rows, int64_t peak);
  // The next message is expected to take so many bytes.
  void ExpectBytes(int64_t bytes) { next_bytes_.store(bytes, std::memory_order_relaxed); }
  // A row given out has so many bytes.
  void NoteRowBytes(int64_t bytes);

  // Whether messages have cost so little that a thread that waits for one may make it itself. This is true of reads
  // while the system has the files in memory.
  bool light() const;
  // The number of messages in a task of about `task_ns`, from 1 to `most`; 1 until the first was measured.
  int MessagesIn(uint64_t task_ns, int most) const;
  // Mean time of a row over the last tasks; 0: none was measured.
  uint64_t row_ns() const { return row_ns_.load(std::memory_order_relaxed); }
  // Bytes of the largest row given out so far.
  int64_t row_bytes() const { return row_bytes_.load(std::memory_order_relaxed); }
  // The largest working set of a message; 0: none was measured.
  int64_t task_bytes() const { return task_bytes_.load(std::memory_order_relaxed); }
  // Bytes expected of the next message; -1: not known.
  int64_t next_bytes() const { return next_bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> task_bytes_{0};
  std::atomic<int64_t> next_bytes_;
  std::atomic<uint64_t> message_ns_{0};
  std::atomic<uint64_t> row_ns_{0};
  std::atomic<int64_t> row_bytes_{0};
};

// Sets the value to `to` if it is smaller.
template <typename T>
void RaiseTo(std::atomic<T>& value, T to) {
  T seen = value.load(std::memory_order_relaxed);
  while (seen < to && !value.compare_exchange_weak(seen, to, std::memory_order_acq_rel)) {
  }
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_STAGE_COST_H_
