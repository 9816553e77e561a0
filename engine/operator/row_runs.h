// `RunOperator` is a row operator that works on the rows of many messages in one go. The rows stay apart: each has a
// message, a batch slot and errors of its own, whatever rows come with it.
// Threads: as RowOperator's.
#ifndef HEADRACE_ENGINE_OPERATOR_ROW_RUNS_H_
#define HEADRACE_ENGINE_OPERATOR_ROW_RUNS_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "engine/operator/block.h"

namespace headrace {

// A RowOperator that may take runs.
class RunOperator {
 public:
  virtual ~RunOperator() = default;
  virtual bool takes_runs() const = 0;
  // Changes each block as RowOperator::Apply does. Each has one row, and none is a tombstone or was found in a cache.
  // Calls `done` as soon as the blocks before `end` are finished: a later row may wait until those have been given out.
  virtual void ApplyRun(absl::Span<Block* const> blocks, absl::FunctionRef<void(size_t end)> done) const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_ROW_RUNS_H_
