// `RunPipeline` runs a pipeline to its end and records the rows, as users do; `RunByHand` runs it task by task in an
// order drawn from a seed.
// Threads: used by the test's thread.
#ifndef HEADRACE_ENGINE_TESTING_RUN_PIPELINE_H_
#define HEADRACE_ENGINE_TESTING_RUN_PIPELINE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/exec/pipeline.h"

namespace headrace {

struct PipelineRun {
  // Values of the rows of each epoch that was begun, from the first.
  std::vector<std::vector<int64_t>> epochs;
  // The position after each row of all epochs.
  std::vector<Position> positions;
  absl::Status error;  // OK: ran to the end
  int64_t peak_bytes = 0;

  std::vector<int64_t> AllValues() const;
};

// 0, 1 and so on: the values of so many rows of fake_count.
std::vector<int64_t> FirstValues(int64_t rows);

// The value of a row; aborts if its data do not match the value.
int64_t CheckedValue(const ResultRow& row);

// Fails if no pipeline can be made, or if it stalls.
absl::StatusOr<PipelineRun> RunPipeline(const ir::proto::Graph& graph, PipelineOptions options);

// Claims and runs tasks in a random order on this thread, up to `workers` claimed at once, and takes rows in between.
// Fails if nothing can run.
absl::StatusOr<PipelineRun> RunByHand(const ir::proto::Graph& graph, PipelineOptions options, uint64_t seed,
                                      int workers);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_TESTING_RUN_PIPELINE_H_
