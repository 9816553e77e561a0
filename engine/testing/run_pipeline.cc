#include "engine/testing/run_pipeline.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/testing/patience.h"
#include "core/text.h"
#include "engine/testing/cooperative_threads.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

void Note(Pipeline& pipeline, uint64_t epoch, const ResultRow& row, PipelineRun& run) {
  const size_t at = static_cast<size_t>(epoch - pipeline.plan().epochs.first);
  if (run.epochs.size() <= at) run.epochs.resize(at + 1);
  run.epochs[at].push_back(CheckedValue(row));
  run.positions.push_back(pipeline.position());
}

bool AtEnd(Pipeline& pipeline) { return pipeline.position().epoch > pipeline.plan().epochs.last; }

// Takes one row or end-of-epoch marker, if there is one. False: nothing yet.
absl::StatusOr<bool> TakeNext(Pipeline& pipeline, std::chrono::nanoseconds limit, PipelineRun& run) {
  const uint64_t epoch = pipeline.position().epoch;
  ResultRow row;
  const absl::StatusOr<Pipeline::Outcome> outcome = pipeline.Next(limit, row);
  if (!outcome.ok()) {
    run.error = outcome.status();
    return true;
  }
  if (*outcome == Pipeline::Outcome::kRow) Note(pipeline, epoch, row, run);
  return *outcome != Pipeline::Outcome::kNothingYet;
}

void Fill(const PipelineOptions& options, PipelineRun& run) {
  if (run.error.ok()) run.epochs.resize(static_cast<size_t>(options.epochs.last - options.epochs.first + 1));
}

// Worker threads simulated on one thread, in an order drawn from the seed.
class Hands {
 public:
  Hands(Pipeline& pipeline, uint64_t seed, int workers) : pipeline_(pipeline), random_(seed), workers_(workers) {}
  ~Hands() {
    while (!claimed_.empty()) RunOne();
  }

  absl::Status Run(PipelineRun& run) {
    while (run.error.ok() && !AtEnd(pipeline_)) {
      const uint64_t way = random_.Below(4);
      if (way == 0 && Claim()) continue;
      if (way == 1 && !claimed_.empty()) {
        RunOne();
        continue;
      }
      if (way == 2) {
        HEADRACE_ASSIGN_OR_RETURN(const bool took, TakeNext(pipeline_, std::chrono::nanoseconds(0), run));
        if (took) continue;
      }
      if (way != 3) continue;
      HEADRACE_ASSIGN_OR_RETURN(const bool able, DoAnything(run));
      if (!able) return InternalError("stands still: ", absl::StrJoin(pipeline_.DescribeStall(), "; "));
    }
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<bool> DoAnything(PipelineRun& run) {
    if (Claim()) return true;
    if (!claimed_.empty()) {
      RunOne();
      return true;
    }
    // Taking an empty block gives no row, but frees a slot.
    HEADRACE_ASSIGN_OR_RETURN(const bool took, TakeNext(pipeline_, std::chrono::nanoseconds(0), run));
    return took || Claim();
  }

  bool Claim() {
    if (static_cast<int>(claimed_.size()) >= workers_) return false;
    const auto& stages = pipeline_.stages();
    const size_t first = random_.Below(stages.size());
    for (size_t i = 0; i < stages.size(); ++i) {
      Task* const task = stages[(first + i) % stages.size()]->Claim();
      if (task == nullptr) continue;
      claimed_.push_back(task);
      return true;
    }
    return false;
  }

  void RunOne() {
    const size_t at = random_.Below(claimed_.size());
    Task* const task = claimed_[at];
    claimed_.erase(claimed_.begin() + static_cast<std::ptrdiff_t>(at));
    task->stage->Run(*task);
  }

  Pipeline& pipeline_;
  ScheduleRandom random_;
  const int workers_;
  std::vector<Task*> claimed_;
};

}  // namespace

std::vector<int64_t> PipelineRun::AllValues() const {
  std::vector<int64_t> values;
  for (const auto& epoch : epochs) values.insert(values.end(), epoch.begin(), epoch.end());
  return values;
}

std::vector<int64_t> FirstValues(int64_t rows) {
  std::vector<int64_t> values(static_cast<size_t>(rows));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

int64_t CheckedValue(const ResultRow& row) {
  const int64_t value = row.columns[0].value<int64_t>();
  if (row.columns.size() < 2) return value;
  const Tensor& data = row.columns[1];
  const uint8_t wanted = static_cast<uint8_t>(value & 0xff);
  for (int64_t i = 0; i < data.elements(); ++i) {
    if (data.raw()[i] == wanted) continue;
    std::fprintf(stderr, "byte %lld of the data of value %lld is %d\n", static_cast<long long>(i),
                 static_cast<long long>(value), data.raw()[i]);
    std::abort();
  }
  return value;
}

absl::StatusOr<PipelineRun> RunPipeline(const ir::proto::Graph& graph, PipelineOptions options) {
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Pipeline> pipeline, Pipeline::Make(graph, options));
  PipelineRun run;
  while (run.error.ok() && !AtEnd(*pipeline)) {
    pipeline->Ask(pipeline->position().epoch);
    HEADRACE_ASSIGN_OR_RETURN(const bool took, TakeNext(*pipeline, kTestPatience, run));
    if (!took) return InternalError("stands still: ", absl::StrJoin(pipeline->DescribeStall(), "; "));
    if (!run.error.ok() && KindOf(run.error) == ErrorKind::kInternal) return run.error;
  }
  Fill(options, run);
  run.peak_bytes = pipeline->report().peak_bytes;
  return run;
}

absl::StatusOr<PipelineRun> RunByHand(const ir::proto::Graph& graph, PipelineOptions options, uint64_t seed,
                                      int workers) {
  options.idle = true;
  options.pull = false;
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Pipeline> pipeline, Pipeline::Make(graph, options));
  pipeline->Ask(options.epochs.last);
  PipelineRun run;
  HEADRACE_RETURN_IF_ERROR(Hands(*pipeline, seed, workers).Run(run));
  Fill(options, run);
  run.peak_bytes = pipeline->report().peak_bytes;
  return run;
}

}  // namespace headrace
