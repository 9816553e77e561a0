// `MemoryReservation` charges bytes that a library allocates for a row to the pipeline, like buffers, before they are
// allocated: other tasks see less free budget, and the stage reserves as much for its next rows.
// Threads: made and destroyed by one thread, within one task.
#ifndef HEADRACE_CORE_MEMORY_RESERVATION_H_
#define HEADRACE_CORE_MEMORY_RESERVATION_H_

#include <cstdint>

#include "core/buffer.h"

namespace headrace {

class MemoryReservation {
 public:
  // Outside of a task nothing is charged.
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
