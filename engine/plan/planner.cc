#include "engine/plan/planner.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "core/error.h"
#include "core/seeded_hash.h"
#include "core/text.h"
#include "engine/operator/batch_memory.h"
#include "engine/operator/host_parameter.h"
#include "engine/operator/listed_rows.h"
#include "engine/plan/batch_numbers.h"
#include "engine/plan/cache_planner.h"
#include "engine/plan/epoch_limit.h"
#include "engine/plan/plan_checks.h"
#include "engine/plan/steps_text.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

constexpr int kRowWindow = 128;
constexpr int kBatchWindow = 8;
// Of far files as many rows are read ahead as may be outstanding, besides those that are, and not fewer than outlast a
// pause of the network.
constexpr int kFarWindows = 2;
constexpr int kFarWindow = 512;
// Rows grouped by their cost fit in the nearest cache of a core, where kernels compute on them, and in this part of the
// budget.
constexpr int64_t kGroupBytes = int64_t{32} << 10;
// Bytes and texts are passed on as views.
constexpr int64_t kViewedGroupBytes = int64_t{128} << 10;
constexpr int64_t kGroupShare = 256;
constexpr int64_t kConnectorShare = 4;

// Bytes of a row with this schema; -1 if a shape is not known.
int64_t RowBytes(const ir::Schema& schema) {
  int64_t bytes = 0;
  for (const ir::Column& column : schema.columns) {
    if (!column.type.fully_known() || IsVariableLength(column.type.dtype)) return -1;
    bytes += static_cast<int64_t>(ItemSize(column.type.dtype)) * ElementCount(*column.type.shape);
  }
  return bytes;
}

// Arrays are what kernels compute on.
bool HoldsViewsOrScalars(const ir::Schema& schema) {
  return std::all_of(schema.columns.begin(), schema.columns.end(), [](const ir::Column& column) {
    return IsVariableLength(column.type.dtype) || (column.type.shape.has_value() && column.type.shape->empty());
  });
}

// To compare columns of one row: sizes that are not known, as that of a batch, count as 1.
double KnownBytes(const ir::Column& column) {
  if (!column.type.shape.has_value() || column.type.dtype == DType::kUnknown) return 0;
  double bytes = IsVariableLength(column.type.dtype) ? 1 : static_cast<double>(ItemSize(column.type.dtype));
  for (const int64_t size : *column.type.shape) bytes *= size == ir::kUnknownDim ? 1 : static_cast<double>(size);
  return bytes;
}

bool Writes(const ir::proto::Node& node, const std::string& column) {
  return std::any_of(node.steps().begin(), node.steps().end(), [&column](const ir::proto::Step& step) {
    return std::count(step.outputs().begin(), step.outputs().end(), column) > 0;
  });
}

// Whether most of its result is tensors of its input, as they came.
bool PassesMostBytes(const PlanNode& node) {
  if (node.properties.passes_rows) return true;
  const ir::proto::Node& graph_node = *node.arguments.node;
  if (!node.properties.traits.one_to_one || graph_node.steps().empty()) return false;
  double passed = 0;
  double written = 0;
  for (const ir::Column& column : node.arguments.output.columns) {
    (Writes(graph_node, column.name) ? written : passed) += KnownBytes(column);
  }
  return passed > written;
}

class StageLayout {
 public:
  StageLayout(const PreparedGraph& prepared, const PlanOptions& options, PhysicalPlan& plan)
      : prepared_(prepared), options_(options), plan_(plan) {}

  absl::Status Build() {
    HEADRACE_RETURN_IF_ERROR(AddOperators());
    Close(Lay(prepared_.root(), plan_.epochs, plan_.checkpoint));
    Number();
    LeaveOthersTheirCores();
    PlaceResult();
    for (PlannedStage& stage : plan_.stages) FitToBatch(stage);
    return absl::OkStatus();
  }

 private:
  // A stage to which operators may still be added.
  struct Open {
    PlannedStage stage;
    bool sealed = false;
    bool batches = false;  // gives out batches: a short queue is enough
    bool grouped = false;  // its source may group rows
  };

  absl::Status AddOperators() {
    for (const PlanNode* node : prepared_.nodes()) {
      const int id = static_cast<int>(plan_.operators.size());
      id_of_.emplace(node, id);
      passes_most_bytes_.push_back(PassesMostBytes(*node));
      PlannedOperator& op = plan_.operators.emplace_back();
      op.name = node->arguments.name;
      op.fused = FusedInto(*node);
      op.location = node->arguments.location;
      op.steps = StepsText(node->arguments.node->steps());
      op.properties = node->properties;
      op.output = node->arguments.output;
      op.epoch_cycle = node->arguments.epoch_cycle;
      op.made_elsewhere = node->made_elsewhere;
      const bool of_rows = CountBatches(*node) == 0;
      op.skip_failed = of_rows && prepared_.graph().has_skip_failed();
      if (!node->indexed) {
        for (const auto& input : node->inputs) op.inputs.push_back(id_of_.at(input.get()));
      }
      if (!node->properties.keeps.has_value()) continue;
      HEADRACE_ASSIGN_OR_RETURN(PlannedCache cache, PlanOwnCache(*node, options_));
      cache.op = id;
      plan_.caches.push_back(std::move(cache));
    }
    return absl::OkStatus();
  }

  // The names of the user's operators whose steps the node has, besides its own.
  static std::vector<std::string> FusedInto(const PlanNode& node) {
    std::vector<std::string> names;
    for (const ir::proto::Step& step : node.arguments.node->steps()) {
      if (step.user_node() == 0) continue;
      std::string name = Cat(node.arguments.node->op(), "[", step.user_node() - 1, "]");
      if (name == node.arguments.name || std::count(names.begin(), names.end(), name) > 0) continue;
      names.push_back(std::move(name));
    }
    return names;
  }

  // How often the rows that come to the node were batched, less how often they were split again.
  int CountBatches(const PlanNode& node) {
    int below = 0;
    for (const auto& input : node.inputs) below = std::max(below, node.indexed ? 0 : batches_.at(input.get()));
    int& batches = batches_[&node];
    batches = below;
    if (node.properties.traits.joins_rows) ++batches;
    if (node.properties.splits_messages && batches > 0) --batches;
    return below;
  }

  // Sets where the node's operator begins, and returns its number.
  int Settle(const PlanNode& node, EpochRange epochs, absl::Span<const uint64_t> counters) {
    const int id = id_of_.at(&node);
    PlannedOperator& op = plan_.operators[static_cast<size_t>(id)];
    op.epochs = epochs;
    const NodeCounters cut = CutCounters(node, counters);
    op.input_counters.assign(cut.below.begin(), cut.below.end());
    op.counters.assign(cut.own.begin(), cut.own.end());
    return id;
  }

  Open Lay(const PlanNode& node, EpochRange epochs, absl::Span<const uint64_t> counters) {
    const int id = Settle(node, epochs, counters);
    if (node.indexed || node.stream_source) return LaySource(node, id);
    if (node.row) return LayRow(node, id, epochs, counters);
    return LayStream(node, id, epochs, counters);
  }

  Open LaySource(const PlanNode& node, int id) {
    Open open;
    open.stage.kind = node.indexed ? PlannedStage::Kind::kIndexedSource : PlannedStage::Kind::kStreamSource;
    open.stage.caches = std::exchange(caches_above_, {});
    open.grouped = MayGroup(node);
    if (node.properties.traits.file_io) open.stage.lane = Lane::kIo;
    if (node.indexed && node.properties.traits.file_io) open.stage.far_reads = node.indexed->properties().far_reads;
    if (node.properties.asks_for_order) {
      // The order is asked for on a thread that may wait; rows are read there, too.
      open.stage.lane = Lane::kPython;
      open.stage.gated = true;
      open.stage.cap = node.properties.traits.file_io ? PlannedStage::kFirstReads : 1;
      open.stage.cap = open.stage.most_cap = std::max(open.stage.cap, open.stage.far_reads);
    }
    if (node.properties.traits.python) {
      open.stage.lane = Lane::kPython;
      open.stage.gated = true;
      open.stage.cap = open.stage.most_cap = std::max(1, node.properties.processes);
      open.sealed = true;
    }
    open.stage.operators.push_back(id);
    return open;
  }

  void PlanCaches(const PlanNode& node, int id, EpochRange epochs) {
    // However many ranges there are, they are of one epoch.
    if (plan_.ranges.has_value()) epochs.last = epochs.first;
    std::optional<PlannedCache> cache = PlanAutomaticCache(node, options_, epochs, OwnCacheAbove(), note_files_);
    const bool may_keep = node.properties.keeps.has_value() || (cache.has_value() && cache->declined.empty());
    if (may_keep) caches_above_.push_back(id);
    if (!cache.has_value()) return;
    cache->op = id;
    plan_.caches.push_back(*std::move(cache));
  }

  // The user's own; null: there is none.
  const PlanNode* OwnCacheAbove() const {
    for (const int id : caches_above_) {
      const PlanNode* const node = prepared_.nodes()[static_cast<size_t>(id)];
      if (node->properties.keeps.has_value()) return node;
    }
    return ordered_cache_above_;
  }

  Open LayRow(const PlanNode& node, int id, EpochRange epochs, absl::Span<const uint64_t> counters) {
    PlanCaches(node, id, epochs);
    std::vector<int> caches = caches_above_;
    Open input = Lay(*node.inputs[0], epochs, CutCounters(node, counters).inputs[0]);
    const ir::Traits& traits = node.properties.traits;
    const bool splits = node.properties.splits_messages;
    if (traits.light && !splits && !input.sealed) {
      input.stage.operators.push_back(id);
      return input;
    }
    Open open;
    open.stage.kind = PlannedStage::Kind::kRow;
    open.stage.caches = std::move(caches);
    open.stage.inputs.push_back(Close(std::move(input)));
    if (traits.python) {
      open.stage.lane = Lane::kPython;
      open.stage.gated = true;
      const int at_will = options_.workers > 0 ? options_.workers : options_.cores;
      const int processes = node.properties.processes;
      open.stage.most_cap = traits.ordered ? 1 : processes > 0 ? processes : PlannedStage::kNoCap;
      open.stage.cap = open.stage.most_cap == PlannedStage::kNoCap ? at_will : open.stage.most_cap;
    } else if (traits.file_io) {
      open.stage.lane = Lane::kIo;
      open.stage.cap = PlannedStage::kFirstReads;
    }
    // A value may be set until its epoch is asked for.
    open.stage.gated |= !ParametersRead(node.arguments).empty();
    open.sealed = splits;
    open.stage.operators.push_back(id);
    return open;
  }

  Open LayStream(const PlanNode& node, int id, EpochRange epochs, absl::Span<const uint64_t> counters) {
    const EpochMapping& mapping = node.properties.epochs;
    absl::Span<const uint64_t> own = op(id).counters;
    const NodeCounters cut = CutCounters(node, counters);
    const PlanNode* const cache_above = ordered_cache_above_;
    if (node.properties.keeps.has_value()) ordered_cache_above_ = &node;
    std::vector<Open> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const EpochRange range{mapping.StartInput(epochs.first, own), mapping.LastInput(epochs.last)};
      // Each input has its own counter of epochs, one after the other.
      if (mapping.counter >= 0) own.remove_prefix(1);
      inputs.push_back(Lay(*node.inputs[i], range, cut.inputs[i]));
    }
    ordered_cache_above_ = cache_above;
    if (node.properties.lists_rows) ReadFirst(SourceOfRows(*node.inputs[0]), ListedRows(cut.own));
    if (node.properties.traits.python || !JoinsInput(inputs)) return StartStream(node, id, inputs);
    PlannedStage& stage = inputs[0].stage;
    const bool batches = node.properties.traits.joins_rows;
    if (stage.inputs.size() == 1 && batches) GiveBatchSlots(stage.inputs[0], stage.operators, id);
    stage.operators.push_back(id);
    inputs[0].batches |= batches;
    return std::move(inputs[0]);
  }

  void ReadFirst(const PlanNode* source, absl::Span<const uint64_t> rows) {
    plan_.operators[static_cast<size_t>(id_of_.at(source))].read_first.assign(rows.begin(), rows.end());
  }

  // Whether a stream operator may share the stage of its input.
  static bool JoinsInput(const std::vector<Open>& inputs) {
    return inputs.size() == 1 && inputs[0].stage.kind == PlannedStage::Kind::kStream && !inputs[0].sealed;
  }

  // Not inlined: stages in the frame of a function that calls itself for each operator are a deep graph's stack.
  ABSL_ATTRIBUTE_NOINLINE Open StartStream(const PlanNode& node, int id, std::vector<Open>& inputs) {
    const bool batches = node.properties.traits.joins_rows;
    Open open;
    open.stage.kind = PlannedStage::Kind::kStream;
    open.batches = batches;
    for (Open& input : inputs) open.stage.inputs.push_back(Close(std::move(input)));
    if (open.stage.inputs.size() == 1 && batches) GiveBatchSlots(open.stage.inputs[0], {}, id);
    if (node.properties.traits.python) {
      open.stage.lane = Lane::kPython;
      open.stage.gated = true;
      open.stage.cap = open.stage.most_cap = 1;
      open.sealed = true;
    }
    open.stage.operators.push_back(id);
    return open;
  }

  const PlannedOperator& op(int id) const { return plan_.operators[static_cast<size_t>(id)]; }

  // Lets the stage below a batch write rows straight into their batch slots, if only their epochs change in between.
  void GiveBatchSlots(int below, const std::vector<int>& between, int batch) {
    PlannedStage& stage = plan_.stages[static_cast<size_t>(below)];
    const PlannedOperator& joins = op(batch);
    if (stage.kind != PlannedStage::Kind::kRow || !joins.properties.takes_batch_slots) return;
    if (!op(stage.operators.back()).properties.writes_batch_slots) return;
    if (!std::all_of(between.begin(), between.end(), [this](int id) { return op(id).properties.passes_rows; })) return;
    if (!BatchSlots::Useful(joins.properties.batch_rows, op(joins.inputs[0]).output.Types(), options_.memory)) return;
    stage.batch_slots = PlannedBatchSlots{batch, between, static_cast<int64_t>(joins.counters[0])};
  }

  int Close(Open open) {
    PlannedStage& stage = open.stage;
    for (const int id : stage.operators) Append(stage.name, stage.name.empty() ? "" : " + ", op(id).name);
    stage.row_bytes = RowBytes(op(stage.operators.back()).output);
    stage.limits = LimitsOf(stage);
    PlanTasks(stage);
    const int rows = stage.far_reads > 0 ? std::max(kFarWindow, kFarWindows * stage.far_reads) : kRowWindow;
    const int chosen = options_.pull ? 1 : open.batches ? kBatchWindow : rows;
    stage.limits.without.window = options_.window > 0 ? options_.window : chosen;
    const int fixed = stage.limits.fixed.window;
    stage.window = fixed > 0 ? fixed : stage.limits.without.window;
    stage.narrows = options_.window == 0 && fixed == 0;
    stage.byte_bound = std::max<int64_t>(1, options_.memory / kConnectorShare);
    if (open.grouped) stage.group = options_.group;
    const bool views = HoldsViewsOrScalars(op(stage.operators.back()).output);
    stage.group_bytes = std::min(views ? kViewedGroupBytes : kGroupBytes, options_.memory / kGroupShare);
    plan_.stages.push_back(std::move(stage));
    return static_cast<int>(plan_.stages.size()) - 1;
  }

  PlannedLimits LimitsOf(const PlannedStage& stage) const {
    PlannedLimits limits;
    const auto add = [&](const std::string& name) {
      const auto found = options_.limits.find(name);
      if (found == options_.limits.end() || !found->second.any()) return;
      limits.of.push_back(name);
      limits.fixed.Join(found->second);
    };
    for (const int id : stage.operators) {
      add(op(id).name);
      for (const std::string& name : op(id).fused) add(name);
    }
    return limits;
  }

  void PlanTasks(PlannedStage& stage) {
    const bool reads = stage.lane == Lane::kIo;
    if (PlannedStage::InOrder(stage.kind)) stage.most_cap = 1;
    const int most_reads = std::max(PlannedStage::kMostReads, stage.far_reads);
    if (reads) stage.most_cap = std::min(stage.most_cap, most_reads);
    stage.cap = std::min(stage.cap, reads ? most_reads : PlannedStage::kNoCap);
    if (options_.workers > 0) stage.cap = std::min(stage.cap, options_.workers);
    stage.limits.without.workers = stage.cap;
    if (const int fixed = stage.limits.fixed.workers; fixed > 0) {
      // The number of threads that the planner chooses for Python is no bound, what the user gave for all stages is.
      stage.cap = std::min(fixed, stage.most_cap);
      if (options_.workers > 0) stage.cap = std::min(stage.cap, options_.workers);
    }
    if (options_.pull) {
      stage.lane = Lane::kCpu;
      stage.far_reads = 0;
    }
    if (stage.lane == Lane::kIo && stage.kind == PlannedStage::Kind::kIndexedSource) {
      const bool fixed = options_.workers > 0 || stage.limits.fixed.workers > 0;
      // Reads that need no thread cost nothing where they do not help.
      stage.first_cap = fixed || stage.far_reads > 0 ? stage.cap : PlannedStage::kFirstReads;
    }
  }

  // A stage that was given more workers than there are has them; the other stages keep to what there would be.
  void LeaveOthersTheirCores() {
    if (plan_.pull) return;
    const int workers = plan_.workers;
    const auto of_cpu = [](const PlannedStage& stage) {
      return stage.lane == Lane::kCpu && !PlannedStage::InOrder(stage.kind);
    };
    for (PlannedStage& stage : plan_.stages) {
      if (!of_cpu(stage)) continue;
      stage.limits.without.workers = std::min(stage.limits.without.workers, workers);
      if (stage.limits.fixed.workers > 0) plan_.workers = std::max(plan_.workers, stage.cap);
    }
    if (plan_.workers == workers) return;
    for (PlannedStage& stage : plan_.stages) {
      if (of_cpu(stage) && stage.limits.fixed.workers == 0) stage.cap = std::min(stage.cap, workers);
    }
  }

  // Puts the user's end first.
  void Number() {
    std::vector<PlannedStage>& stages = plan_.stages;
    std::reverse(stages.begin(), stages.end());
    for (PlannedStage& stage : stages) {
      for (int& input : stage.inputs) {
        input = static_cast<int>(stages.size()) - 1 - input;
        stages[static_cast<size_t>(input)].depth = stage.depth + 1;
      }
    }
  }

  // Has the result made where its device can read it: by the stage next to the user, and below operators that pass most
  // of it on.
  void PlaceResult() {
    if (!plan_.device.has_value()) return;
    for (PlannedStage* stage = &plan_.stages[0];; stage = &plan_.stages[static_cast<size_t>(stage->inputs[0])]) {
      stage->memory = plan_.device->sends_from;
      const auto passes_on = [this](int id) { return passes_most_bytes_[static_cast<size_t>(id)]; };
      if (stage->inputs.size() != 1 || !std::all_of(stage->operators.begin(), stage->operators.end(), passes_on)) break;
    }
    for (PlannedStage& stage : plan_.stages) {
      if (stage.batch_slots.has_value()) stage.batch_slots->memory = Consumer(stage)->memory;
    }
  }

  void FitToBatch(PlannedStage& stage) const {
    const bool streams = stage.kind == PlannedStage::Kind::kStreamSource;
    const bool calls = op(stage.operators[0]).properties.traits.python;
    if (!streams && stage.kind != PlannedStage::Kind::kIndexedSource) return;
    // Reads of far files are begun by the row.
    if (stage.far_reads > 0 && !streams && !calls) return;
    if (stage.group == 0) stage.joined_rows = JoinedRows(stage);
    // Rows that call Python travel alone, except to a batch that is delivered only when complete: so a run that goes on
    // after a batch calls it for no row before.
    if (!calls || options_.group > 0) return;
    stage.joined_rows = op(stage.operators[0]).skip_failed ? 0 : JoinedRows(stage);
    if (stage.joined_rows > 0) stage.group = op(stage.operators[0]).properties.run_rows;
  }

  // The rows of a stage that the first batch above joins into one; 0: there is none, or their number is not the same
  // for all, or rows are lost on the way.
  int64_t JoinedRows(const PlannedStage& source) const {
    for (const PlannedStage* stage = &source; stage != nullptr; stage = Consumer(*stage)) {
      for (const int id : stage->operators) {
        const OperatorProperties& properties = op(id).properties;
        if (properties.traits.joins_rows) return properties.batch_rows;
        if (!op(id).inputs.empty() && !PassesOneToOne(properties, op(source.operators[0]).properties.traits.python))
          return 0;
      }
    }
    return 0;
  }

  // `all`: whether it also keeps their order, passes on each row at once, calls no Python, and never ends an epoch
  // early.
  static bool PassesOneToOne(const OperatorProperties& properties, bool all) {
    const ir::Traits& traits = properties.traits;
    if (!all && properties.passes_rows) return true;
    return traits.one_to_one && !(all && (traits.by_position || traits.python || traits.single_row_messages));
  }

  // Stages are numbered from the user's end.
  const PlannedStage* Consumer(const PlannedStage& stage) const {
    const auto number = static_cast<int>(&stage - plan_.stages.data());
    for (int above = number - 1; above >= 0; --above) {
      const PlannedStage& each = plan_.stages[static_cast<size_t>(above)];
      if (std::count(each.inputs.begin(), each.inputs.end(), number) > 0) return &each;
    }
    return nullptr;
  }

  const PreparedGraph& prepared_;
  const PlanOptions& options_;
  PhysicalPlan& plan_;
  std::unordered_map<const PlanNode*, int, SeededHash> id_of_;
  std::vector<bool> passes_most_bytes_;                           // by operator
  std::unordered_map<const PlanNode*, int, SeededHash> batches_;  // of a node's rows
  // Operators with caches on the way down, the nearest to the user first: for the indexed source at its end.
  std::vector<int> caches_above_;
  // The user's nearest on the way down that is filled in order, which no source looks into; null: there is none.
  const PlanNode* ordered_cache_above_ = nullptr;
  NoteFilesOfSources note_files_;
};

absl::Status PlanEpochs(const PlanNode& root, EpochRange asked, PhysicalPlan& plan) {
  const std::optional<uint64_t> last = LastEpochOf(root);
  if (!last.has_value() || asked.first > *last) return UncountedEpoch(asked.first, last);
  plan.epochs_cut = asked.last > *last;
  plan.epochs = {asked.first, std::min(asked.last, *last)};
  return absl::OkStatus();
}

absl::Status PlanRanges(const PlanNode& root, const PlanOptions& options, PhysicalPlan& plan) {
  if (options.ranges == nullptr) return absl::OkStatus();
  HEADRACE_RETURN_IF_ERROR(CheckRanges(root, plan.max_errors.has_value()));
  const PlanNode& source = NumberedSource(root);
  plan.ranges = {.batch_rows = BatchSizeOf(root),
                 .rows = options.shard.RowsOf(source.indexed->size(), 0, source.properties.run_length),
                 .batches = RowsOfRank(root, options.shard).rows,
                 .batch_numbers = BatchNumberCounters(root)};
  return absl::OkStatus();
}

absl::Status PlanStart(const PlanNode& root, const PlanOptions& options, PhysicalPlan& plan) {
  plan.checkpoint = options.checkpoint;
  if (plan.checkpoint.empty()) plan.checkpoint.assign(static_cast<size_t>(root.counters), 0);
  if (!FitsCounters(root, plan.checkpoint)) {
    return StateError("the state has ", plan.checkpoint.size(), " counters, this pipeline ", root.counters);
  }
  plan.skip_rows = options.skip_rows;
  plan.delivered = options.delivered;
  plan.removed = options.removed;
  if (plan.removed > plan.max_errors.value_or(0)) {
    return StateError("the state was not taken of this pipeline: it says that ", plan.removed,
                      " rows were left out, of at most ", plan.max_errors.value_or(0));
  }
  return CheckCounters(root, options.shard, plan.checkpoint);
}

}  // namespace

absl::StatusOr<PhysicalPlan> MakePlan(const PreparedGraph& prepared, const PlanOptions& options) {
  const PlanNode& root = prepared.root();
  PhysicalPlan plan;
  plan.shard = options.shard;
  plan.seed = options.seed.value_or(prepared.graph().seed());
  plan.pull = options.pull;
  plan.workers = options.pull ? 1 : std::max(options.cores, options.workers);
  plan.memory = options.memory;
  plan.device = options.device;
  if (prepared.graph().has_skip_failed()) plan.max_errors = prepared.graph().skip_failed().max_errors();
  plan.checkpoint_layout = CheckpointLayout(root);
  const auto inexact = std::find(prepared.nodes().begin(), prepared.nodes().end(), FirstInexact(root));
  if (inexact != prepared.nodes().end()) plan.position_inexact = static_cast<int>(inexact - prepared.nodes().begin());
  HEADRACE_RETURN_IF_ERROR(CheckShards(root, options.shard));
  HEADRACE_RETURN_IF_ERROR(CheckRuns(root));
  if (plan.max_errors.has_value()) HEADRACE_RETURN_IF_ERROR(CheckSkipping(root, options.shard));
  HEADRACE_RETURN_IF_ERROR(PlanEpochs(root, options.epochs, plan));
  HEADRACE_RETURN_IF_ERROR(PlanRanges(root, options, plan));
  HEADRACE_RETURN_IF_ERROR(PlanStart(root, options, plan));
  HEADRACE_RETURN_IF_ERROR(StageLayout(prepared, options, plan).Build());
  return plan;
}

}  // namespace headrace
