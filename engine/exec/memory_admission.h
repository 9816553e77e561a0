// `AdmitMessages` reserves budget for a stage's next messages: for as many as are worth a task; else for one; else, if
// nothing else can run, for the due message, which may overdraw the budget.
// Threads: under the stage's lock.
#ifndef HEADRACE_ENGINE_EXEC_MEMORY_ADMISSION_H_
#define HEADRACE_ENGINE_EXEC_MEMORY_ADMISSION_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "engine/exec/run_control.h"

namespace headrace {

struct MemoryDemand {
  int64_t message_bytes = 0;
  int messages = 1;         // worth a task
  bool runs_ahead = false;  // the due message is in progress or queued
  // Bytes that so many messages take in addition, for later rows.
  absl::FunctionRef<int64_t(int messages)> ahead_bytes;
  // Whether no stage from this one up to the user has output ready, and none of the others can run.
  absl::FunctionRef<bool()> last_resort;
};

struct Admission {
  int messages = 0;         // 0: none for now
  int64_t ahead_bytes = 0;  // reserved in addition
};

// If any message is admitted, the caller must call control.Leave().
Admission AdmitMessages(RunControl& control, const Stage* stage, const MemoryDemand& demand);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_MEMORY_ADMISSION_H_
