// Bytes that a library takes for itself while it works on a row, charged to the pipeline like buffers, and before they
// are taken: other tasks wait for what is left, and the stage reserves as much for its next rows.
// Thread contract: made and destroyed by one thread, within one task.
#ifndef HEADRACE_CORE_MEMORY_RESERVATION_H_
#define HEADRACE_CORE_MEMORY_RESERVATION_H_

#include <cstdint>

#include "core/buffer.h"

namespace headrace {

class MemoryReservation {
 public:
  // Nothing is charged outside of a task.
  explicit MemoryReservation(int64_t bytes) : task_(TaskMemory::Current()), bytes_(bytes) {
    if (task_ != nullptr && task_->account() != nullptr) task_->Add(bytes_);
  }
  ~MemoryReservation() {
    if (task_ != nullptr && task_->account() != nullptr) task_->Add(-bytes_);
  }
  MemoryReservation(const MemoryReservation&) = delete;

 private:
  TaskMemory* const task_;
  const int64_t bytes_;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_MEMORY_RESERVATION_H_
