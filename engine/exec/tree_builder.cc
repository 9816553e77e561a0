#include "engine/exec/tree_builder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "engine/cache/cache_content.h"

namespace headrace {
namespace {

constexpr int kRowWindow = 128;
constexpr int kBatchWindow = 8;
// Rows grouped by their cost stay within the nearest cache of a core, and within this part of the budget.
constexpr int64_t kGroupBytes = int64_t{32} << 10;
constexpr int64_t kGroupShare = 256;

Element ElementOf(PlanNode& instance) {
  const RowCache* cache = instance.row ? instance.row->row_cache().get() : nullptr;
  return {instance.arguments.name, instance.arguments.location, instance.properties,
          std::move(instance.row), std::move(instance.stream),  cache};
}

// Bytes of a row with this schema; -1 where a shape is not known.
int64_t RowBytes(const ir::Schema& schema) {
  int64_t bytes = 0;
  for (const ir::Column& column : schema.columns) {
    if (!column.type.fully_known() || IsVariableLength(column.type.dtype)) return -1;
    bytes += static_cast<int64_t>(ItemSize(column.type.dtype)) * ElementCount(*column.type.shape);
  }
  return bytes;
}

absl::Status Refuse(const PlanNode& instance, absl::Status status) {
  AddErrorField(status, ErrorField::kOperator, instance.arguments.name);
  AddErrorField(status, ErrorField::kLocation, instance.arguments.location);
  return status;
}

// The op nearest to the sources that gives nobody knows how many rows, where `root` does.
const PlanNode& FirstUncounted(const PlanNode& root) {
  for (const auto& input : root.inputs) {
    if (input->properties.cardinality.kind == Cardinality::Kind::kUnknown) return FirstUncounted(*input);
  }
  return root;
}

// Words of a state from outside: what operators have that stand in a checkpoint, in the order in which it holds them.
absl::Status CheckCounters(const PlanNode& instance, const ShardAssignment& shard, absl::Span<const uint64_t> words) {
  if (instance.indexed) {
    const uint64_t rows = shard.RowsOf(instance.indexed->size(), shard.base);
    if (words[0] <= rows) return absl::OkStatus();
    return Refuse(instance, CounterError("gave ", words[0], " rows of ", rows));
  }
  size_t at = 0;
  for (const auto& input : instance.inputs) {
    const auto width = static_cast<size_t>(input->counters);
    HEADRACE_RETURN_IF_ERROR(CheckCounters(*input, shard, words.subspan(at, width)));
    at += width;
  }
  if (!instance.stream) return absl::OkStatus();
  const absl::Status good = instance.stream->CheckCounters(words.subspan(at));
  return good.ok() ? good : Refuse(instance, good);
}

absl::Status CheckSharded(const PlanNode& instance, const ShardAssignment& shard) {
  if (instance.indexed && instance.indexed->size() < shard.world && shard.even != ShardAssignment::Even::kPad) {
    return Refuse(instance,
                  GraphError("there are more shards (", shard.world, ") than rows (", instance.indexed->size(),
                             "): some would get nothing; use fewer, or even=\"pad\""));
  }
  if (instance.properties.traits.side_by_side) {
    for (const auto& input : instance.inputs) {
      if (input->position_exact) continue;
      const PlanNode* culprit = FirstInexact(*input);
      return Refuse(instance,
                    UnsupportedError(instance.arguments.node->op(), " with shards needs inputs sharded alike, but ",
                                     culprit->arguments.name, " changes which row stands where; ",
                                     instance.arguments.node->op(), " first, or shard by hand"));
    }
  }
  for (const auto& input : instance.inputs) HEADRACE_RETURN_IF_ERROR(CheckSharded(*input, shard));
  return absl::OkStatus();
}

// The last epoch of which every pass of every repeat below has a number; none: not even the first.
std::optional<uint64_t> LastEpochOf(const PlanNode& instance) {
  uint64_t inputs = EpochRange::kMost;
  for (const auto& input : instance.inputs) {
    const std::optional<uint64_t> last = LastEpochOf(*input);
    if (!last.has_value()) return std::nullopt;
    inputs = std::min(inputs, *last);
  }
  if (!instance.stream) return inputs;
  const auto fits = [&](uint64_t epoch) { return instance.properties.epochs.LastInput(epoch) <= inputs; };
  if (!fits(0)) return std::nullopt;
  uint64_t low = 0;
  uint64_t high = instance.properties.epochs.Last();
  while (low < high) {
    const uint64_t middle = high - (high - low) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Every source below may give rows in groups.
bool Grouped(const PlanNode& instance) {
  if (instance.inputs.empty()) return instance.arguments.node->grouped();
  return std::all_of(instance.inputs.begin(), instance.inputs.end(), [](const auto& input) { return Grouped(*input); });
}

}  // namespace

absl::Status UncountedEpoch(uint64_t epoch, std::optional<uint64_t> last) {
  return UnsupportedError("epoch ", epoch, " cannot be counted: repeat() numbers the passes of all epochs one after ",
                          "the other, and one within another the passes of those, in 64 bits, which are enough ",
                          last.has_value() ? Cat("up to epoch ", *last, " here") : "for none here",
                          "; give an endless repeat() a count, such as repeat(1000)");
}

absl::Status TreeBuilder::OpenCaches(const PlanNode& instance) {
  for (const auto& input : instance.inputs) HEADRACE_RETURN_IF_ERROR(OpenCaches(*input));
  const std::shared_ptr<RowCache> cache = CacheOf(instance);
  if (cache == nullptr) return absl::OkStatus();
  if (cache->lasting() && CallsPython(*instance.inputs[0])) {
    return Refuse(instance, UnsupportedError("what a Python function gives cannot be kept between runs, as nothing "
                                             "tells when the function changes; leave out directory=, or put the cache "
                                             "below the function"));
  }
  const bool transparent = instance.arguments.attributes.Bool("transparent");
  if (transparent && Draws(*instance.inputs[0], true)) {
    return Refuse(instance, GraphError("a transparent cache would keep the random draws of one epoch for all: put it "
                                       "below the random steps, or leave out transparent"));
  }
  pipeline_.caches_.push_back(cache);
  if (pipeline_.options_.idle) return absl::OkStatus();
  const std::vector<std::string>& off = pipeline_.options_.caches_off;
  if (std::find(off.begin(), off.end(), instance.arguments.name) != off.end()) {
    cache->TurnOff("as its files were found damaged: this run makes every row anew, and the next one fills it again");
    return absl::OkStatus();
  }
  RowCache::Use use;
  use.account = pipeline_.account();
  use.budget = pipeline_.budget() - granted_;
  use.shelf = pipeline_.options_.shelf.get();
  use.content = ContentOf(instance, pipeline_.graph(), pipeline_.options_.seed.value_or(pipeline_.graph().seed()),
                          pipeline_.options_.shard);
  if (instance.row) {
    use.fits = [schema = instance.arguments.output](absl::Span<const Tensor> row) {
      return ir::FitsSchema(schema, row);
    };
    use.rows = SourceOfRows(*instance.inputs[0])->indexed->size();
  }
  // A rank meets its own part of the rows alone, but where each epoch shuffles them anew.
  if (!transparent) use.rows = pipeline_.options_.shard.RowsOf(use.rows, 0);
  const absl::Status opened = cache->Open(use);
  granted_ += cache->memory_limit();
  return opened.ok() ? opened : Refuse(instance, opened);
}

absl::Status TreeBuilder::OpenAutomatic(const PlanNode& instance, EpochRange epochs) {
  const std::shared_ptr<AutomaticCache> cache = instance.row->automatic_cache();
  const PipelineOptions& options = pipeline_.options_;
  const bool forced = options.forced_cache_point >= 0;
  const PlanNode* source = SourceOfRows(instance);
  if (cache == nullptr || source == nullptr || (!forced && !MayBeHeavy(instance))) return absl::OkStatus();
  pipeline_.automatic_caches_.push_back(cache);
  AutomaticCache::Use use;
  use.rows.account = pipeline_.account();
  use.rows.budget = pipeline_.budget() - granted_;
  const bool folder_named = !options.cache_folder.empty();
  const bool in_folder = folder_named && !ShufflesBelow(instance);
  const std::string no_folder = folder_named && !in_folder ? "as a shuffle below would hold what is read from it" : "";
  if (!in_folder && MeetsRowsOnce(instance, epochs, options.shard)) {
    cache->Decline(
        Cat("as only one epoch is run", folder_named ? Cat(", and the folder is left alone, ", no_folder) : ""));
    return absl::OkStatus();
  }
  if (options.group > 1 && Grouped(*source)) {
    cache->Decline("as iterate(group=…) sends rows together");
    return absl::OkStatus();
  }
  if (in_folder) use.limits.folder = options.cache_folder;
  cache->LeaveFolder(no_folder);
  if (options.idle) return absl::OkStatus();
  use.rows.content = ContentOfCachePoints(instance, *cache, pipeline_.graph());
  use.rows.rows = RowsThatCome(instance, options.shard);
  use.forced = options.forced_cache_point;
  if (!options.pull) {
    use.readers = WorkerPool::Io().threads();
    use.workers = WorkerPool::Cpu().threads();
  }
  const absl::Status opened = cache->Open(use);
  granted_ += cache->rows()->memory_limit();
  return opened.ok() ? opened : Refuse(instance, opened);
}

absl::Status TreeBuilder::CheckEpochs() {
  const std::optional<uint64_t> last = LastEpochOf(*pipeline_.root_node_);
  EpochRange& epochs = pipeline_.options_.epochs;
  if (!last.has_value() || epochs.first > *last) return UncountedEpoch(epochs.first, last);
  pipeline_.epochs_cut_ = epochs.last > *last;
  epochs.last = std::min(epochs.last, *last);
  return absl::OkStatus();
}

absl::Status TreeBuilder::CheckShards() const {
  const ShardAssignment& shard = pipeline_.options_.shard;
  const PlanNode& root = *pipeline_.root_node_;
  if (shard.even != ShardAssignment::Even::kOff && root.properties.cardinality.kind == Cardinality::Kind::kUnknown) {
    const PlanNode& culprit = FirstUncounted(root);
    return Refuse(culprit, UnsupportedError("even= needs a known number of rows on every rank, and that of ",
                                            culprit.arguments.name, " is not known before it runs; use even=\"off\""));
  }
  if (shard.world == 1) return absl::OkStatus();
  return CheckSharded(root, shard);
}

absl::Status TreeBuilder::Build() {
  HEADRACE_RETURN_IF_ERROR(CheckShards());
  HEADRACE_RETURN_IF_ERROR(CheckEpochs());
  PlanNode& root = *pipeline_.root_node_;
  HEADRACE_RETURN_IF_ERROR(OpenCaches(root));
  std::vector<uint64_t> words = pipeline_.options_.checkpoint;
  if (words.empty()) words.assign(static_cast<size_t>(root.counters), 0);
  if (static_cast<int>(words.size()) != root.counters) {
    return StateError("the state has ", words.size(), " counters, this pipeline ", root.counters);
  }
  HEADRACE_RETURN_IF_ERROR(CheckCounters(root, pipeline_.options_.shard, words));
  Close(BuildNode(root, pipeline_.options_.epochs, words));
  HEADRACE_RETURN_IF_ERROR(opened_);
  std::reverse(pipeline_.stages_.begin(), pipeline_.stages_.end());
  return absl::OkStatus();
}

TreeBuilder::Open TreeBuilder::BuildNode(PlanNode& instance, EpochRange epochs, absl::Span<const uint64_t> words) {
  Open open = instance.indexed || instance.stream_source ? BuildSource(instance, epochs, words)
              : instance.row                             ? BuildRow(instance, epochs, words)
                                                         : BuildStream(instance, epochs, words);
  open.top = &instance;
  return open;
}

TreeBuilder::Open TreeBuilder::BuildSource(PlanNode& instance, EpochRange epochs, absl::Span<const uint64_t> words) {
  Open open;
  open.kind = instance.indexed ? Open::Kind::kIndexed : Open::Kind::kStreamSource;
  open.source = &instance;
  open.epochs = epochs;
  open.words.assign(words.begin(), words.end());
  open.caches = std::exchange(caches_, {});
  if (instance.properties.traits.file_io) open.lane = Lane::kIo;
  if (instance.properties.traits.python) {
    open.lane = Lane::kPython;
    open.gated = true;
    open.cap = 1;
    open.sealed = true;
  }
  return open;
}

TreeBuilder::Open TreeBuilder::BuildRow(PlanNode& instance, EpochRange epochs, absl::Span<const uint64_t> words) {
  const size_t below = static_cast<size_t>(instance.inputs[0]->counters);
  opened_.Update(OpenAutomatic(instance, epochs));
  if (auto cache = instance.row->row_cache()) caches_.push_back(std::move(cache));
  std::vector<std::shared_ptr<RowCache>> caches = caches_;
  Open input = BuildNode(*instance.inputs[0], epochs, words.subspan(0, below));
  const bool one_to_many = instance.properties.splits_messages;
  if (instance.properties.traits.light && !one_to_many && !input.sealed) {
    input.elements.push_back(ElementOf(instance));
    return input;
  }
  Open open;
  open.kind = Open::Kind::kRow;
  open.caches = std::move(caches);
  open.inputs.push_back(Close(std::move(input)));
  if (instance.properties.traits.python) {
    open.lane = Lane::kPython;
    open.gated = true;
    const int workers = pipeline_.options_.workers;
    open.cap = instance.properties.traits.ordered ? 1 : workers > 0 ? workers : WorkerPool::Cores();
  }
  if (one_to_many) {
    open.sealed = true;
    open.before.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(below));
    open.skip_parts = words[below];
  }
  open.elements.push_back(ElementOf(instance));
  return open;
}

TreeBuilder::Open TreeBuilder::BuildStream(PlanNode& instance, EpochRange epochs, absl::Span<const uint64_t> words) {
  StreamOperator& op = *instance.stream;
  const size_t below = words.size() - static_cast<size_t>(instance.properties.checkpoint_counters);
  const absl::Span<const uint64_t> own = words.subspan(below);
  op.SetLastEpoch(epochs.last);
  op.Start(epochs.first, own, Checkpoint(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(below)));
  std::vector<Open> inputs;
  size_t at = 0;
  for (size_t i = 0; i < instance.inputs.size(); ++i) {
    const size_t width = static_cast<size_t>(instance.inputs[i]->counters);
    const EpochMapping& mapping = instance.properties.epochs;
    EpochRange range{mapping.StartInput(epochs.first, own), mapping.LastInput(epochs.last)};
    if (!op.needs_input()) range = {1, 0};
    inputs.push_back(BuildNode(*instance.inputs[i], range, words.subspan(at, width)));
    at += width;
  }
  const bool batches = instance.properties.batch_rows > 0;
  if (inputs.size() == 1 && inputs[0].kind == Open::Kind::kStream && !inputs[0].sealed) {
    if (inputs[0].inputs.size() == 1 && batches) {
      GiveBatchSlots(inputs[0].inputs[0], inputs[0].elements, instance, epochs, own[0]);
    }
    inputs[0].elements.push_back(ElementOf(instance));
    inputs[0].batches |= batches;
    return std::move(inputs[0]);
  }
  Open open;
  open.kind = Open::Kind::kStream;
  open.batches = batches;
  for (Open& input : inputs) open.inputs.push_back(Close(std::move(input)));
  if (open.inputs.size() == 1 && batches) GiveBatchSlots(open.inputs[0], {}, instance, epochs, own[0]);
  open.elements.push_back(ElementOf(instance));
  return open;
}

void TreeBuilder::GiveBatchSlots(Stage* below, absl::Span<const Element> between, const PlanNode& batch,
                                 EpochRange epochs, uint64_t skipped) const {
  auto* rows = dynamic_cast<RowStage*>(below);
  if (rows == nullptr || !rows->elements().back().properties.writes_batch_slots || !batch.properties.takes_batch_slots)
    return;
  std::vector<EpochMapping> mappings;
  for (const Element& element : between) {
    if (element.stream == nullptr || !element.properties.passes_rows) return;
    mappings.push_back(element.properties.epochs);
  }
  std::vector<ir::ColumnType> types;
  for (const ir::Column& column : batch.arguments.inputs[0].columns) types.push_back(column.type);
  const int64_t batch_rows = batch.properties.batch_rows;
  if (!BatchSlots::Useful(batch_rows, types, pipeline_.options_.memory)) return;
  const auto last_epoch = [mappings](uint64_t epoch) {
    for (size_t i = mappings.size(); i-- > 0;) epoch = mappings[i].LastInput(epoch);
    return epoch;
  };
  rows->set_batch_slots(std::make_unique<BatchSlots>(MemorySource{pipeline_.pool(), pipeline_.account()}, batch_rows,
                                                     std::move(types), static_cast<int64_t>(skipped), epochs,
                                                     last_epoch));
}

Stage* TreeBuilder::Close(Open open) {
  const PipelineOptions& options = pipeline_.options_;
  Stage::Options stage;
  if (open.source != nullptr) stage.name = open.source->arguments.name;
  for (const Element& element : open.elements) Append(stage.name, stage.name.empty() ? "" : " + ", element.name);
  stage.row_bytes = RowBytes(open.top->arguments.output);
  stage.lane = options.pull ? Lane::kCpu : open.lane;
  stage.gated = open.gated;
  stage.cap = options.workers > 0 ? std::min(open.cap, options.workers) : open.cap;
  if (open.lane == Lane::kIo) stage.cap = std::min(stage.cap, ReadAhead::kMost);
  if (stage.lane == Lane::kIo && open.kind == Open::Kind::kIndexed) {
    stage.read_ahead = std::make_shared<ReadAhead>(options.workers > 0 ? stage.cap : ReadAhead::kFirst, stage.cap);
  }
  stage.window = options.window > 0 ? options.window : options.pull ? 1 : open.batches ? kBatchWindow : kRowWindow;
  stage.narrows = options.window == 0;
  stage.byte_bound = std::max<int64_t>(1, options.memory / 4);
  stage.caches = std::move(open.caches);
  if (open.source != nullptr && Grouped(*open.source)) stage.group = options.group;
  stage.group_bytes = std::min(kGroupBytes, options.memory / kGroupShare);
  RunControl* control = &pipeline_;
  std::unique_ptr<Stage> made;
  switch (open.kind) {
    case Open::Kind::kIndexed:
      made = std::make_unique<IndexedSourceStage>(
          std::move(stage), control, std::move(open.elements), std::move(open.source->indexed),
          IndexedSourceStage::Place{open.source->arguments.name, open.source->arguments.location,
                                    open.source->arguments.epoch_cycle},
          options.shard, open.epochs, open.words[0]);
      break;
    case Open::Kind::kStreamSource:
      made = std::make_unique<StreamSourceStage>(std::move(stage), control, std::move(open.elements),
                                                 std::move(open.source->stream_source), open.source->arguments.name,
                                                 open.source->arguments.location, open.source->arguments.epoch_cycle,
                                                 options.shard, open.epochs, std::move(open.words));
      break;
    case Open::Kind::kRow:
      made = std::make_unique<RowStage>(std::move(stage), control, open.inputs[0], std::move(open.elements),
                                        Checkpoint(open.before.begin(), open.before.end()), open.skip_parts);
      break;
    case Open::Kind::kStream:
      made = std::make_unique<StreamStage>(std::move(stage), control, std::move(open.inputs), std::move(open.elements));
      break;
  }
  pipeline_.stages_.push_back(std::move(made));
  return pipeline_.stages_.back().get();
}

}  // namespace headrace
