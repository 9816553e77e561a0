// Asks the budget for the memory of a stage's next messages: for as many as are worth a task, for one, or, where
// nothing else could run, for the one that is due, which may overdraw it.
// Thread contract: under the stage's lock.
#ifndef HEADRACE_ENGINE_EXEC_MEMORY_ADMISSION_H_
#define HEADRACE_ENGINE_EXEC_MEMORY_ADMISSION_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "engine/exec/run_control.h"

namespace headrace {

struct MemoryDemand {
  int64_t message_bytes = 0;
  int messages = 1;         // that are worth a task
  bool runs_ahead = false;  // the message that is due is taken already
  // Bytes that so many messages take besides, for rows that come after theirs.
  absl::FunctionRef<int64_t(int messages)> ahead_bytes;
  // No stage between this one and the user could run instead, or has anything to give.
  absl::FunctionRef<bool()> last_resort;
};

struct Admission {
  int messages = 0;         // 0: none for now
  int64_t ahead_bytes = 0;  // reserved besides theirs
};

// On more than none, control.Leave() is owed.
Admission AdmitMessages(RunControl& control, const Stage* stage, const MemoryDemand& demand);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_MEMORY_ADMISSION_H_
