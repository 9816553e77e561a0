// `RunEveryWay` runs a small graph in every way the engine offers and compares the rows. The test of an operator gives
// the expected rows; the harness checks that they are the same pulled and threaded, with one worker and several, with
// the narrowest window, with little memory, with rows in groups, and when restarted after every row, once and twice.
// Threads: used by the test's thread.
#ifndef HEADRACE_OPS_TESTING_RUN_OPERATOR_H_
#define HEADRACE_OPS_TESTING_RUN_OPERATOR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/exec/pipeline.h"
#include "engine/operator/batch_ranges.h"
#include "ops/testing/graph_builder.h"

namespace headrace {

struct RanRow {
  uint64_t epoch = 0;
  RowId id;
  std::string text;  // "value=3, label=1"
  std::vector<Tensor> columns;
  Position after;  // the state after this row
};

struct Ran {
  std::vector<RanRow> rows;
  absl::Status error;  // OK: ran to the end
  std::vector<Fingerprint> fingerprints;
  Cardinality cardinality;

  std::vector<std::string> Texts(uint64_t epoch = 0) const;
  std::vector<uint64_t> Keys(uint64_t epoch = 0) const;
  // The values of a column of whole numbers of shape (), in row order.
  std::vector<int64_t> Ints(int column = 0, uint64_t epoch = 0) const;
};

// "value=3, image=uint8 (2, 2) [1 2 3 4]"
std::string RowText(const ir::Schema& schema, const std::vector<Tensor>& columns);

struct RunSpec {
  uint64_t first_epoch = 0;
  uint64_t epochs = 2;
  HostBindings bindings;
  uint64_t seed = 7;
  ShardAssignment shard;
  // The budget of the run with little memory.
  int64_t little_memory = 1 << 16;
  // Restarts are tried every so many rows, and with threads every so many of those; fewer in thinned runs and under
  // sanitizers.
  int restart_every = 1;
  int threaded_restart_every = 5;
  // If not -1: maps have an automatic cache at this cache point, except in the reference run.
  int kept_point = -1;
};

// The options of a plain, pulled run.
PipelineOptions OptionsOf(const RunSpec& spec);

// Runs to the end of `options.epochs` or the first error; fails if no pipeline can be made, or it stalls.
absl::StatusOr<Ran> RunOnce(const ir::proto::Graph& graph, PipelineOptions options);

// The pulled run. gtest expectations check that all the others equal it and name one that does not.
Ran RunEveryWay(const GraphBuilder& builder, const RunSpec& spec = {});

// Expects that the ranges of batches, each of at least one batch of the run's first epoch and all made by one run, are
// those parts of the whole epoch: pulled, by threads and with rows in groups.
void ExpectRanges(const GraphBuilder& builder, const RunSpec& spec, const std::vector<BatchRange>& ranges);

// The error of building the graph or making the pipeline; "" if there is none.
std::string Refusal(const GraphBuilder& builder, const RunSpec& spec = {});

// The rows of each rank of `world`, each run in every way; element r is rank r.
std::vector<Ran> RunRanks(const GraphBuilder& builder, uint64_t world, RunSpec spec = {});

}  // namespace headrace

#endif  // HEADRACE_OPS_TESTING_RUN_OPERATOR_H_
