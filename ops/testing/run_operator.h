// Runs a small graph in every way the engine knows and compares: an operator's test says what the rows are, and the
// harness that they are the same pulled and threaded, with one worker and several, with the narrowest window, with
// little memory, with rows that travel in groups, and when restarted after every row, once and twice. Used by the
// test's thread.
#ifndef HEADRACE_OPS_TESTING_RUN_OPERATOR_H_
#define HEADRACE_OPS_TESTING_RUN_OPERATOR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/exec/pipeline.h"
#include "ops/testing/graph_builder.h"

namespace headrace {

struct RanRow {
  uint64_t epoch = 0;
  RowId id;
  std::string text;  // "value=3, label=1"
  std::vector<Tensor> columns;
  Position after;  // where to go on after this row
};

struct Ran {
  std::vector<RanRow> rows;
  absl::Status error;  // OK: ran to the end
  std::vector<Fingerprint> fingerprints;
  Cardinality cardinality;

  std::vector<std::string> Texts(uint64_t epoch = 0) const;
  std::vector<uint64_t> Keys(uint64_t epoch = 0) const;
  // Of a column of whole numbers of shape (), in order of the rows.
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
  // Of the run with little memory.
  int64_t little_memory = 1 << 16;
  // Restarts are tried at every so many rows, and of those with threads, too, at every so many.
  int restart_every = 1;
  int threaded_restart_every = 5;
  // Not -1: maps keep rows at this cache point by themselves, but for the run that the others are compared with.
  int kept_point = -1;
};

// The options of a plain, pulled run.
PipelineOptions OptionsOf(const RunSpec& spec);

// Runs to the end of `options.epochs` or the first error; fails where no pipeline can be made, or it stands still.
absl::StatusOr<Ran> RunOnce(const ir::proto::Graph& graph, PipelineOptions options);

// The pulled run, after all the others were found equal to it (gtest expectations say which was not).
Ran RunEveryWay(const GraphBuilder& builder, const RunSpec& spec = {});

// What building, or making the pipeline, says against it; "" when nothing.
std::string Refusal(const GraphBuilder& builder, const RunSpec& spec = {});

// Rows of each rank of `world`, each rank run every way; rank r first at [r].
std::vector<Ran> RunRanks(const GraphBuilder& builder, uint64_t world, RunSpec spec = {});

}  // namespace headrace

#endif  // HEADRACE_OPS_TESTING_RUN_OPERATOR_H_
