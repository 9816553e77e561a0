// One iteration over a data set, as front ends see it: the user's graph is checked and optimized, run, and its state
// taken and restored.
// Thread contract: as Pipeline's.
#ifndef HEADRACE_ENGINE_ITERATION_H_
#define HEADRACE_ENGINE_ITERATION_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/pipeline.h"
#include "ir/graph.pb.h"

namespace headrace {

struct IterateOptions {
  std::optional<uint64_t> seed;
  uint64_t epoch = 0;
  bool endless = false;  // runs on into later epochs
  uint64_t rank = 0;
  uint64_t world = 1;
  std::string even = "off";  // "off", "drop" or "pad"
  std::string state;         // empty: from the epoch's start
  bool optimize = true;
  std::vector<std::string> disabled_passes;
  bool pull = false;
  int workers = 0;
  int window = 0;
  int group = 0;
  int64_t memory = int64_t{2} << 30;
  int64_t profile = 0;          // as PipelineOptions::profile
  std::string cache_folder;     // as PipelineOptions'
  int forced_cache_place = -1;  // as PipelineOptions'
  HostBindings bindings;
  const FileSystem* files = LocalFileSystem();  // as PipelineOptions::files
  std::shared_ptr<CacheShelf> shelf;            // where caches leave their rows for the next iteration; null: nowhere
};

class Iteration {
 public:
  // Errors: every mistake in the graph at once (kGraph), missing files (kNotFound), a state of another graph or of
  // changed files (kState), what shards do not allow.
  static absl::StatusOr<std::unique_ptr<Iteration>> Start(const ir::proto::Graph& user_graph, IterateOptions options);

  absl::StatusOr<Pipeline::Outcome> Fetch(std::chrono::nanoseconds limit, ResultRow& row) {
    return pipeline_->Fetch(limit, row);
  }
  void Given() { pipeline_->Given(); }
  void Ask(uint64_t epoch) { pipeline_->Ask(epoch); }
  Pipeline::Closed Close(std::chrono::nanoseconds patience) { return pipeline_->Close(patience); }
  void Stop() { pipeline_->Stop(); }
  bool RunsHere() const { return pipeline_->RunsHere(); }

  // Of the next row.
  uint64_t epoch() const { return pipeline_->position().epoch; }
  uint64_t delivered() const { return pipeline_->position().delivered; }
  // As of the row given last. kState where the pipeline cannot be restored.
  absl::StatusOr<std::string> State() const;
  const ir::Schema& schema() const { return pipeline_->schema(); }
  Report report() { return pipeline_->report(); }
  std::string ExplainText();
  // Of a run that was closed, where options asked for a profile.
  struct ProfileFiles {
    std::string trace;  // JSON, as engine/trace.h says
    std::string page;   // HTML
  };
  ProfileFiles MakeProfile();
  std::vector<std::string> DescribeStall() { return pipeline_->DescribeStall(); }

 private:
  Iteration() = default;

  std::unique_ptr<Pipeline> pipeline_;
  ir::proto::Graph user_graph_;  // canonical
  std::string even_;
};

// What would run, before it does: the tree, its stages and estimates.
absl::StatusOr<std::string> ExplainGraph(const ir::proto::Graph& user_graph, const IterateOptions& options,
                                         bool passes);
// Rows of the result in one epoch.
absl::StatusOr<Cardinality> CountRows(const ir::proto::Graph& user_graph, const HostBindings& bindings);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_ITERATION_H_
