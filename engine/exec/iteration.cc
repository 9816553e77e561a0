#include "engine/exec/iteration.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "engine/exec/sealed_state.h"
#include "engine/exec/store_use.h"
#include "engine/plan/batch_numbers.h"
#include "engine/plan/planner.h"
#include "io/files/far_listings.h"
#include "io/files/storage_settings.h"
#include "ir/branches.h"
#include "ir/canonical.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/graph_hash.h"
#include "ir/mark_padding.h"
#include "ir/passes.h"
#include "ir/validate.h"

namespace headrace {
namespace {

// How long a pipeline that is replaced by another waits for user functions.
constexpr std::chrono::seconds kPatience{1};

absl::StatusOr<ShardAssignment::Even> EvenOf(const std::string& even) {
  if (even == "off") return ShardAssignment::Even::kOff;
  if (even == "drop") return ShardAssignment::Even::kDrop;
  if (even == "pad") return ShardAssignment::Even::kPad;
  return GraphError("even=\"", even, "\"; it is \"off\", \"drop\" or \"pad\"");
}

absl::StatusOr<ShardAssignment> ShardOf(const IterateOptions& options, const std::string& even_name) {
  if (options.world == 0) return GraphError("shard=(", options.rank, ", 0): there is at least one shard");
  if (options.rank >= options.world) {
    return GraphError("shard=(", options.rank, ", ", options.world, "): the rank is below the number of shards");
  }
  HEADRACE_ASSIGN_OR_RETURN(const ShardAssignment::Even even, EvenOf(even_name));
  return ShardAssignment{options.rank, options.world, 0, even};
}

absl::StatusOr<ir::proto::Graph> Prepare(const ir::proto::Graph& user_graph) {
  ir::proto::Graph graph = user_graph;
  HEADRACE_RETURN_IF_ERROR(ir::Canonicalize(graph));
  HEADRACE_RETURN_IF_ERROR(ir::Validate(graph));
  NumberOperators(graph);
  return graph;
}

absl::StatusOr<ir::Optimized> Optimize(const ir::proto::Graph& graph, const IterateOptions& options,
                                       ShardAssignment::Even even) {
  std::vector<std::string> off = options.disabled_passes;
  if (!options.optimize) {
    for (const ir::Pass& pass : ir::AllPasses()) off.push_back(pass.name);
  }
  ir::proto::Graph prepared = graph;
  // Before the passes, which keep columns in order.
  if (even == ShardAssignment::Even::kPad) {
    HEADRACE_RETURN_IF_ERROR(ir::MarkPadding(prepared));
  }
  if (options.reduce) {
    HEADRACE_ASSIGN_OR_RETURN(prepared, options.reduce(prepared));
  }
  return ir::Optimize(prepared, off);
}

// The options with the file system that the run reads from, and what keeps it alive.
IterateOptions WithFiles(IterateOptions options) {
  if (options.storage != nullptr) {
    const auto table = std::make_shared<const StorageTable>(CurrentStorage()->With(*options.storage));
    options.files = FileSystemWith(table);
    options.storage = nullptr;
  }
  if (options.listings == nullptr) options.listings = std::make_shared<FarListings>();
  options.files = options.listings->Over(options.files);
  options.stores = std::make_shared<const StoreUse>(options.listings);
  return options;
}

PipelineOptions OptionsOf(const IterateOptions& options, const ShardAssignment& shard) {
  PipelineOptions pipeline;
  pipeline.seed = options.seed;
  pipeline.epochs = {options.epoch, options.endless ? std::numeric_limits<uint64_t>::max() : options.epoch};
  pipeline.shard = shard;
  pipeline.pull = options.pull;
  pipeline.workers = options.workers;
  pipeline.window = options.window;
  pipeline.group = options.group;
  pipeline.limits = options.limits;
  pipeline.memory = options.memory;
  pipeline.profile = options.profile;
  pipeline.cache_folder = options.cache_folder;
  pipeline.caches_off = options.caches_off;
  pipeline.choose_cache_point = options.choose_cache_point;
  pipeline.bindings = options.bindings;
  pipeline.files = options.files;
  pipeline.listings = options.listings;
  pipeline.stores = options.stores;
  pipeline.shelf = options.shelf;
  pipeline.failed_rows_log = options.failed_rows_log;
  pipeline.device = options.device;
  pipeline.page_locked = options.page_locked;
  return pipeline;
}

// If the node differs only in the version of an operator: "version 1 of Range, ..."; otherwise "".
std::string OlderVersion(uint32_t hash, ir::proto::Graph graph, int node) {
  const auto find = [&](const std::string& name, auto& op) {
    const uint32_t today = op.version();
    for (uint32_t version = today; version-- > 1;) {
      op.set_version(version);
      if (ir::NodeHashes(graph)[static_cast<size_t>(node)] != hash) continue;
      return Cat("version ", version, " of ", name, ", and this Headrace has version ", today);
    }
    op.set_version(today);
    return std::string();
  };
  ir::proto::Node& changed = *graph.mutable_nodes(node);
  std::string found = find(changed.op(), changed);
  ir::VisitSteps(changed.mutable_steps(), [&](ir::proto::Step& step) {
    if (found.empty()) found = find(step.kernel(), step);
  });
  return found;
}

// Names the first operator that differs or did not exist.
absl::Status CheckGraph(const proto::State& state, const ir::proto::Graph& graph) {
  const ir::GraphHash hash = ir::UserGraphHash(graph);
  if (hash.high == state.graph_high() && hash.low == state.graph_low()) return absl::OkStatus();
  const std::vector<uint32_t> nodes = ir::NodeHashes(graph);
  constexpr std::string_view kAdvice = "; build the data set as it was when the state was taken";
  for (int i = 0; i < std::min(state.nodes_size(), graph.nodes_size()); ++i) {
    if (state.nodes(i) == nodes[static_cast<size_t>(i)]) continue;
    if (const std::string older = OlderVersion(state.nodes(i), graph, i); !older.empty()) {
      return StateError("the state was taken with ", older,
                        ", which gives other rows or another order: begin the epoch anew");
    }
    return StateError("the state is of another pipeline: ", NodeName(graph, i), " (",
                      ir::LocationText(graph.nodes(i).location()), ") was another operator, or had other settings",
                      kAdvice);
  }
  if (state.nodes_size() == graph.nodes_size()) {
    return StateError("the state is of another pipeline: its on_error() was another", kAdvice);
  }
  return StateError("the state is of another pipeline: it had ", state.nodes_size(), " operators, this one has ",
                    graph.nodes_size(), kAdvice);
}

absl::Status CheckSources(const proto::State& state, const std::vector<Fingerprint>& now) {
  if (static_cast<int>(now.size()) != state.sources_size()) {
    return StateError("the state is of ", state.sources_size(), " sources, this pipeline has ", now.size());
  }
  for (size_t i = 0; i < now.size(); ++i) {
    const proto::Source& then = state.sources(static_cast<int>(i));
    if (then.count() != now[i].count) {
      return StateError("the data changed since the state was taken: ", now[i].source, " had ", then.count(),
                        " entries and has ", now[i].count, " now");
    }
    if (then.hash() != now[i].hash) {
      return StateError("the data changed since the state was taken: ", now[i].source, " still has ", now[i].count,
                        " entries, but not the same ones");
    }
  }
  return absl::OkStatus();
}

// Rows of the source that each rank had used, if rows (apart from batches) are one to one with what was sharded. Has
// more than 64 bits, because the numbers in a state may be arbitrary.
using Wide = unsigned __int128;
Wide RowsUsed(const proto::State& state, const PlanNode& node) {
  Wide used = state.checkpoint(0);
  if (NumberedSource(node).indexed == nullptr) {
    // A stream source counts the rows of all ranks that it passed; none yet right after another restart.
    used = (std::max<Wide>(used, state.base()) - state.base() + state.world() - 1) / state.world();
  }
  used += node.batched ? state.checkpoint(state.checkpoint_size() - 1) : state.skip_rows();
  // Counts the last batch of an epoch as full, because another rank's may hold one row more.
  const uint64_t size = BatchSizeOf(node);
  return (used + size - 1) / size * size;
}

// Positions up to this one, and those of some batches of every rank after them, fit in 64 bits.
constexpr uint64_t kMostRows = uint64_t{1} << 62;

// Makes the pipeline continue where the state was taken. This is exact with the same shard; with another one, it is
// possible only if the number of delivered rows determines which positions are done.
absl::Status Restore(const proto::State& state, const PlanNode& node, bool skip_failed, const IterateOptions& options,
                     PipelineOptions& pipeline) {
  if (state.layout() != CheckpointLayout(node) || !FitsCounters(node, state.checkpoint())) {
    return StateError(
        "the state's counters are those of other operators than run here: it was taken with other passes "
        "of the optimizer, or by another version of Headrace; give the optimize= and disabled_passes= "
        "that it was taken with");
  }
  pipeline.checkpoint.assign(state.checkpoint().begin(), state.checkpoint().end());
  pipeline.skip_rows = state.skip_rows();
  pipeline.delivered = state.delivered();
  pipeline.removed = state.removed();
  pipeline.shard.base = state.base();
  if (state.base() > kMostRows) return StateError("the state says that ", state.base(), " rows were used before");
  if (state.rank() == options.rank && state.world() == options.world) return absl::OkStatus();
  if (skip_failed) {
    return StateError("the state was taken by shard ", state.rank(), " of ", state.world(),
                      " and cannot go on as shard ", options.rank, " of ", options.world,
                      ": with on_error(\"skip\") the number of batches does not say which rows were left out");
  }
  if (const PlanNode* culprit = FirstInexact(node); culprit != nullptr) {
    return StateError("the state was taken by shard ", state.rank(), " of ", state.world(),
                      " and cannot go on as shard ", options.rank, " of ", options.world, ": with ",
                      culprit->arguments.name, " the number of batches does not say which rows were seen");
  }
  const Wide used = RowsUsed(state, node);
  // No overflow where `used` is that small.
  const Wide base = state.base() + std::min<Wide>(used, kMostRows) * state.world();
  if (used > kMostRows || base > kMostRows) {
    return StateError("the state says that more rows were used than a data set can have");
  }
  const uint64_t run_length = NumberedSource(node).properties.run_length;
  if (used % run_length != 0) {
    return StateError("the state was taken by shard ", state.rank(), " of ", state.world(), " within a group of ",
                      run_length, " rows, which stay together; take it at a batch of whole groups, or go on as that ",
                      "shard");
  }
  pipeline.shard.base = static_cast<uint64_t>(base);
  pipeline.checkpoint.assign(static_cast<size_t>(node.counters), 0);
  for (const int i : BatchNumberCounters(node)) pipeline.checkpoint[static_cast<size_t>(i)] = state.checkpoint(i);
  // The order that the user's code chose stays the same.
  if (NumberedSource(node).properties.asks_for_order) pipeline.checkpoint[1] = state.checkpoint(1);
  pipeline.skip_rows = 0;
  return absl::OkStatus();
}

// Makes every rank begin with its row `start` of the result. Possible where the number of that row determines which
// positions came before, as it does for restarts of another number of ranks.
absl::Status BeginAt(uint64_t start, const PlanNode& node, bool skip_failed, PipelineOptions& pipeline) {
  constexpr std::string_view kReason = " rows and batches cannot be found by their numbers";
  if (skip_failed) return StateError("with on_error(\"skip\")", kReason);
  if (const PlanNode* culprit = FirstInexact(node); culprit != nullptr) {
    return StateError("with ", culprit->arguments.name, kReason);
  }
  const uint64_t size = BatchSizeOf(node);
  if (start > kMostRows / size / pipeline.shard.world) {
    return StateError("no data set has as many rows as come before row or batch ", start);
  }
  const uint64_t used = start * size;
  const uint64_t run_length = NumberedSource(node).properties.run_length;
  if (used % run_length != 0) {
    return StateError("row or batch ", start, " begins within a group of ", run_length, " rows, which stay together");
  }
  pipeline.shard.base = used * pipeline.shard.world;
  pipeline.delivered = start;
  pipeline.checkpoint.assign(static_cast<size_t>(node.counters), 0);
  for (const int i : BatchNumberCounters(node)) pipeline.checkpoint[static_cast<size_t>(i)] = start;
  return absl::OkStatus();
}

// Null: all rows are made here.
absl::StatusOr<std::shared_ptr<HostRows>> RowsElsewhereOf(const IterateOptions& options) {
  if (options.rows_elsewhere.empty()) return nullptr;
  const auto found = options.bindings.rows.find(options.rows_elsewhere);
  if (found == options.bindings.rows.end()) return GraphError("there are no rows of the name ", options.rows_elsewhere);
  if (options.optimize)
    return GraphError("rows that are made elsewhere are those of the graph as written: optimize=False");
  return found->second;
}

// Null: the options ask for whole epochs.
absl::StatusOr<std::shared_ptr<BatchRanges>> RangesOf(const IterateOptions& options) {
  if (!options.stop.has_value() && !options.ranges) return nullptr;
  if (options.stop.has_value() && options.ranges) {
    return GraphError("give stop, or ranges that are added, not both, as each says where batches end");
  }
  if (!options.state.empty()) {
    return GraphError("give a state, or a range of batches, not both, as each says where to begin");
  }
  auto ranges = std::make_shared<BatchRanges>(options.epoch);
  if (options.stop.has_value()) ranges->Add({options.start.value_or(0), *options.stop});
  return ranges;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Iteration>> Iteration::Start(const ir::proto::Graph& user_graph, IterateOptions given) {
  IterateOptions options = WithFiles(std::move(given));
  std::unique_ptr<Iteration> iteration(new Iteration);
  HEADRACE_ASSIGN_OR_RETURN(iteration->user_graph_, Prepare(user_graph));
  proto::State state;
  iteration->even_ = options.even.value_or("off");
  if (!options.state.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(state, OpenState(options.state));
    HEADRACE_RETURN_IF_ERROR(CheckGraph(state, iteration->user_graph_));
    iteration->even_ = state.even();
    if (options.even.has_value() && *options.even != state.even()) {
      return StateError("the state was taken with even=\"", state.even(), "\", not \"", *options.even,
                        "\"; leave even out, or give that one");
    }
  }
  HEADRACE_ASSIGN_OR_RETURN(const ShardAssignment shard, ShardOf(options, iteration->even_));
  HEADRACE_ASSIGN_OR_RETURN(ir::Optimized optimized, Optimize(iteration->user_graph_, options, shard.even));
  PipelineOptions pipeline = OptionsOf(options, shard);
  HEADRACE_ASSIGN_OR_RETURN(pipeline.ranges, RangesOf(options));
  HEADRACE_ASSIGN_OR_RETURN(pipeline.rows_elsewhere, RowsElsewhereOf(options));
  if (options.ranges) pipeline.epochs.last = EpochRange::kEndless;
  if (!options.state.empty()) {
    if (options.seed.has_value() && *options.seed != state.seed()) {
      return StateError("the state was taken with seed ", state.seed(), ", not ", *options.seed,
                        "; leave the seed out, or give that one");
    }
    pipeline.epochs.first = state.epoch();
    if (!options.endless) pipeline.epochs.last = state.epoch();
    pipeline.seed = state.seed();
  }
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<PreparedGraph> prepared,
                            PreparedGraph::Make(std::move(optimized.graph), pipeline));
  if (!options.state.empty()) {
    HEADRACE_RETURN_IF_ERROR(CheckSources(state, prepared->fingerprints()));
    const bool skip_failed = prepared->graph().has_skip_failed();
    HEADRACE_RETURN_IF_ERROR(Restore(state, prepared->root(), skip_failed, options, pipeline));
  } else if (options.start.has_value() && pipeline.ranges == nullptr) {
    const bool skip_failed = prepared->graph().has_skip_failed();
    HEADRACE_RETURN_IF_ERROR(BeginAt(*options.start, prepared->root(), skip_failed, pipeline));
  }
  HEADRACE_ASSIGN_OR_RETURN(iteration->pipeline_, Pipeline::Make(std::move(prepared), std::move(pipeline)));
  iteration->options_ = std::move(options);
  return iteration;
}

std::shared_ptr<Pipeline> Iteration::pipeline() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return pipeline_;
}

absl::StatusOr<Pipeline::Outcome> Iteration::Fetch(std::chrono::nanoseconds limit, ResultRow& row) {
  absl::StatusOr<Pipeline::Outcome> outcome = pipeline_->Fetch(limit, row);
  if (outcome.ok()) return outcome;
  const std::optional<std::string> damaged = DamagedCacheOf(outcome.status());
  if (!damaged.has_value()) return outcome;
  HEADRACE_RETURN_IF_ERROR(GoOnWithout(*damaged));
  return Pipeline::Outcome::kNothingYet;
}

// Continues after the row delivered last, as a restart from a state does.
absl::Status Iteration::GoOnWithout(const std::string& cache) {
  HEADRACE_ASSIGN_OR_RETURN(options_.state, State());
  // Frees its memory for the next pipeline.
  const bool ended = pipeline_->Close(kPatience) == Pipeline::Closed::kEntirely;
  options_.seed.reset();
  options_.even.reset();
  options_.caches_off.push_back(cache);
  without_cache_ = true;
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Iteration> next, Start(user_graph_, options_));
  next->Ask(asked_);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!ended) left_.push_back(pipeline_);
  pipeline_ = std::move(next->pipeline_);
  // Accepted by the pipeline before, which had the same plan.
  for (const auto& [op, workers] : set_workers_) pipeline_->SetWorkers(op, workers).IgnoreError();
  if (closed_) pipeline_->Stop();
  return absl::OkStatus();
}

void Iteration::Ask(uint64_t epoch) {
  asked_ = std::max(asked_, epoch);
  pipeline_->Ask(epoch);
}

absl::StatusOr<uint64_t> Iteration::AddRange(BatchRange range) {
  const std::shared_ptr<Pipeline> pipeline = this->pipeline();
  if (!options_.ranges) return UnsupportedError("this run has the range of batches that it was begun with");
  BatchRanges& ranges = *pipeline->options().ranges;
  const uint64_t last = pipeline->plan().epochs.last;
  const std::optional<uint64_t> number = ranges.AddUpTo(last, range);
  if (!number.has_value()) {
    return UnsupportedError("this run cannot make more ranges of batches: it numbers them from their epoch, ",
                            ranges.epoch(), ", on, and the last number is ", last, "; begin another run for more");
  }
  pipeline->AskAhead(*number);
  return *number;
}

absl::Status Iteration::SetWorkers(const std::string& op, int workers) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return IteratorClosed();
  HEADRACE_RETURN_IF_ERROR(pipeline_->SetWorkers(op, workers));
  set_workers_[op] = workers;
  return absl::OkStatus();
}

void Iteration::ResetWorkers() {
  const std::lock_guard<std::mutex> lock(mutex_);
  set_workers_.clear();
  pipeline_->ResetWorkers();
}

Pipeline::Closed Iteration::Close(std::chrono::nanoseconds patience) {
  std::vector<std::shared_ptr<Pipeline>> pipelines;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    pipelines = left_;
    pipelines.push_back(pipeline_);
  }
  Pipeline::Closed closed = Pipeline::Closed::kEntirely;
  for (const std::shared_ptr<Pipeline>& each : pipelines) {
    const Pipeline::Closed how = each->Close(patience);
    if (how != Pipeline::Closed::kEntirely) closed = how;
  }
  return closed;
}

void Iteration::Stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  pipeline_->Stop();
}

RunIdentity Iteration::identity() const {
  RunIdentity identity{ir::HashText(ir::UserGraphHash(user_graph_)), {}, pipeline()->fingerprints()};
  for (const uint32_t hash : ir::NodeHashes(user_graph_)) {
    identity.operators.emplace_back(NodeName(user_graph_, static_cast<int>(identity.operators.size())), hash);
  }
  return identity;
}

bool Iteration::WaitsForAsk() const {
  const std::shared_ptr<Pipeline> pipeline = this->pipeline();
  const std::vector<PlannedStage>& stages = pipeline->plan().stages;
  return std::any_of(stages.begin(), stages.end(), [](const PlannedStage& stage) { return stage.gated; });
}

absl::StatusOr<std::string> Iteration::StateAt(const Position& position) const {
  const std::shared_ptr<Pipeline> pipeline = this->pipeline();
  const PhysicalPlan& plan = pipeline->plan();
  const ir::GraphHash hash = ir::UserGraphHash(user_graph_);
  proto::State state;
  state.set_graph_high(hash.high);
  state.set_graph_low(hash.low);
  for (uint32_t node : ir::NodeHashes(user_graph_)) state.add_nodes(node);
  state.set_seed(plan.seed);
  state.set_epoch(position.epoch);
  state.set_delivered(position.delivered);
  state.mutable_checkpoint()->Assign(position.checkpoint.begin(), position.checkpoint.end());
  state.set_skip_rows(position.skip_rows);
  state.set_removed(position.removed);
  state.set_rank(plan.shard.rank);
  state.set_world(plan.shard.world);
  state.set_even(even_);
  state.set_base(position.base);
  state.set_layout(plan.checkpoint_layout);
  for (const Fingerprint& fingerprint : pipeline->fingerprints()) {
    proto::Source* source = state.add_sources();
    source->set_count(fingerprint.count);
    source->set_hash(fingerprint.hash);
  }
  return SealState(state);
}

absl::StatusOr<PlannedRun> PlanRun(const ir::proto::Graph& user_graph, const IterateOptions& given) {
  const IterateOptions options = WithFiles(given);
  HEADRACE_ASSIGN_OR_RETURN(const ShardAssignment shard, ShardOf(options, options.even.value_or("off")));
  HEADRACE_ASSIGN_OR_RETURN(const ir::proto::Graph graph, Prepare(user_graph));
  PlannedRun planned;
  HEADRACE_ASSIGN_OR_RETURN(planned.optimized, Optimize(graph, options, shard.even));
  PipelineOptions pipeline = OptionsOf(options, shard);
  pipeline.writes = false;
  HEADRACE_ASSIGN_OR_RETURN(const auto prepared, PreparedGraph::Make(planned.optimized.graph, pipeline));
  HEADRACE_ASSIGN_OR_RETURN(planned.plan, MakePlan(*prepared, pipeline));
  return planned;
}

absl::StatusOr<Cardinality> CountRows(const ir::proto::Graph& user_graph, const IterateOptions& given) {
  const IterateOptions options = WithFiles(given);
  HEADRACE_ASSIGN_OR_RETURN(const ir::proto::Graph graph, Prepare(user_graph));
  HEADRACE_ASSIGN_OR_RETURN(const ShardAssignment shard, ShardOf(options, options.even.value_or("off")));
  // With no pass but those that always run, as the count is of the graph as the user wrote it.
  IterateOptions plain;
  plain.optimize = false;
  HEADRACE_ASSIGN_OR_RETURN(const ir::Optimized optimized, Optimize(graph, plain, ShardAssignment::Even::kOff));
  RunOptions run;
  run.bindings = &options.bindings;
  run.files = options.files;
  run.writes = true;
  run.memory = options.memory;
  run.skip_failed = graph.has_skip_failed();
  run.first_epoch = options.epoch;
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<PlanNode> node, MakePlanNodes(optimized.graph, run));
  return RowsOfRank(*node, shard);
}

}  // namespace headrace
