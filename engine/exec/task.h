// `Task` is the work of one claim of a stage: message numbers, and what the stage took for them.
// Threads: a task belongs to the thread that claimed it until Run returns; between two claims, to its stage.
#ifndef HEADRACE_ENGINE_EXEC_TASK_H_
#define HEADRACE_ENGINE_EXEC_TASK_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/row_id.h"
#include "engine/operator/block.h"

namespace headrace {

class Stage;

// The rows that a task works on, for the description of a stalled pipeline.
struct WorkedRows {
  enum class Known : uint8_t { kNothing, kRow, kPosition } known = Known::kNothing;
  RowId id;  // of the first row; kPosition: the epoch, and as key the position in the source
  Provenance provenance;
  uint64_t more = 0;  // rows after it
};

struct Task {
  explicit Task(Stage* claimed_by) : stage(claimed_by) {}
  virtual ~Task() = default;
  // Frees all messages that it holds.
  virtual void Drop() {
    parts.clear();
    outputs.clear();
  }

  Stage* const stage;
  uint64_t first = 0;    // number in the output connector, if known when the task is claimed
  int count = 0;         // messages
  int64_t reserved = 0;  // bytes of the budget
  uint64_t rows = 0;     // read or received
  // Under the stage's lock.
  bool running = false;
  uint64_t since_ns = 0;  // when it was claimed
  WorkedRows worked;
  std::vector<Message> parts;  // of one message, on their way to outputs
  std::vector<std::pair<Message, int64_t>> outputs;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_TASK_H_
