#include "engine/tree_builder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "engine/cache_content.h"

namespace headrace {
namespace {

constexpr int kRowWindow = 128;
constexpr int kBatchWindow = 8;
// Rows grouped by their cost stay within the nearest cache of a core, and within this part of the budget.
constexpr int64_t kGroupBytes = int64_t{32} << 10;
constexpr int64_t kGroupShare = 256;

Element ElementOf(Instance& instance) {
  const RowCache* cache = instance.row ? instance.row->row_cache().get() : nullptr;
  return {instance.arguments.name, instance.arguments.location, std::move(instance.row), std::move(instance.stream),
          cache};
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

absl::Status Refuse(const Instance& instance, absl::Status status) {
  AddErrorField(status, ErrorField::kOperator, instance.arguments.name);
  AddErrorField(status, ErrorField::kLocation, instance.arguments.location);
  return status;
}

// The op nearest to the sources that gives nobody knows how many rows, where `root` does.
const Instance& FirstUncounted(const Instance& root) {
  for (const auto& input : root.inputs) {
    if (input->cardinality.kind == Cardinality::Kind::kUnknown) return FirstUncounted(*input);
  }
  return root;
}

// Words of a state from outside: what operators have that stand in a stamp, in the order in which it holds them.
absl::Status CheckWords(const Instance& instance, const Deal& deal, absl::Span<const uint64_t> words) {
  if (instance.indexed) {
    const uint64_t rows = deal.RowsOf(instance.indexed->size(), deal.base);
    if (words[0] <= rows) return absl::OkStatus();
    return Refuse(instance, WordError("gave ", words[0], " rows of ", rows));
  }
  size_t at = 0;
  for (const auto& input : instance.inputs) {
    const auto width = static_cast<size_t>(input->words);
    HEADRACE_RETURN_IF_ERROR(CheckWords(*input, deal, words.subspan(at, width)));
    at += width;
  }
  if (!instance.stream) return absl::OkStatus();
  const absl::Status good = instance.stream->CheckWords(words.subspan(at));
  return good.ok() ? good : Refuse(instance, good);
}

absl::Status CheckDealt(const Instance& instance, const Deal& deal) {
  if (instance.indexed && instance.indexed->size() < deal.world && deal.even != Deal::Even::kPad) {
    return Refuse(instance, GraphError("there are more shards (", deal.world, ") than rows (", instance.indexed->size(),
                                       "): some would get nothing; use fewer, or even=\"pad\""));
  }
  if (instance.inputs.size() > 1 && instance.arguments.node->op() == "zip") {
    for (const auto& input : instance.inputs) {
      if (input->position_exact) continue;
      const Instance* culprit = FirstInexact(*input);
      return Refuse(instance,
                    UnsupportedError("zip with shards needs inputs dealt alike, but ", culprit->arguments.name,
                                     " changes which row stands where; zip first, or shard by hand"));
    }
  }
  for (const auto& input : instance.inputs) HEADRACE_RETURN_IF_ERROR(CheckDealt(*input, deal));
  return absl::OkStatus();
}

// The last epoch of which every pass of every repeat below has a number; none: not even the first.
std::optional<uint64_t> LastEpochOf(const Instance& instance) {
  uint64_t inputs = EpochRange::kMost;
  for (const auto& input : instance.inputs) {
    const std::optional<uint64_t> last = LastEpochOf(*input);
    if (!last.has_value()) return std::nullopt;
    inputs = std::min(inputs, *last);
  }
  if (!instance.stream) return inputs;
  const auto fits = [&](uint64_t epoch) { return instance.stream->LastInputEpoch(epoch) <= inputs; };
  if (!fits(0)) return std::nullopt;
  uint64_t low = 0;
  uint64_t high = instance.stream->LastEpoch();
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
bool Grouped(const Instance& instance) {
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

absl::Status TreeBuilder::OpenCaches(const Instance& instance) {
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
                          pipeline_.options_.deal);
  if (instance.row) {
    use.fits = [schema = instance.arguments.output](absl::Span<const Tensor> row) {
      return ir::FitsSchema(schema, row);
    };
    use.rows = SourceOfRows(*instance.inputs[0])->indexed->size();
  }
  // A rank meets its own part of the rows alone, but where each epoch deals them anew.
  if (!transparent) use.rows = pipeline_.options_.deal.RowsOf(use.rows, 0);
  const absl::Status opened = cache->Open(use);
  granted_ += cache->memory_limit();
  return opened.ok() ? opened : Refuse(instance, opened);
}

absl::Status TreeBuilder::OpenAutomatic(const Instance& instance, EpochRange epochs) {
  const std::shared_ptr<AutomaticCache> cache = instance.row->automatic_cache();
  const PipelineOptions& options = pipeline_.options_;
  const bool forced = options.forced_cache_place >= 0;
  const Instance* source = SourceOfRows(instance);
  if (cache == nullptr || source == nullptr || (!forced && !MayBeHeavy(instance))) return absl::OkStatus();
  pipeline_.automatic_caches_.push_back(cache);
  AutomaticCache::Use use;
  use.rows.account = pipeline_.account();
  use.rows.budget = pipeline_.budget() - granted_;
  const bool folder_named = !options.cache_folder.empty();
  const bool in_folder = folder_named && !ShufflesBelow(instance);
  const std::string no_folder = folder_named && !in_folder ? "as a shuffle below would hold what is read from it" : "";
  if (!in_folder && MeetsRowsOnce(instance, epochs, options.deal)) {
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
  use.rows.content = ContentOfPlaces(instance, *cache, pipeline_.graph());
  use.rows.rows = RowsThatCome(instance, options.deal);
  use.forced = options.forced_cache_place;
  if (!options.pull) {
    use.readers = WorkerPool::Io().threads();
    use.workers = WorkerPool::Cpu().threads();
  }
  const absl::Status opened = cache->Open(use);
  granted_ += cache->rows()->memory_limit();
  return opened.ok() ? opened : Refuse(instance, opened);
}

absl::Status TreeBuilder::CheckEpochs() {
  const std::optional<uint64_t> last = LastEpochOf(*pipeline_.instance_);
  EpochRange& epochs = pipeline_.options_.epochs;
  if (!last.has_value() || epochs.first > *last) return UncountedEpoch(epochs.first, last);
  pipeline_.epochs_cut_ = epochs.last > *last;
  epochs.last = std::min(epochs.last, *last);
  return absl::OkStatus();
}

absl::Status TreeBuilder::CheckDeal() const {
  const Deal& deal = pipeline_.options_.deal;
  const Instance& root = *pipeline_.instance_;
  if (deal.even != Deal::Even::kOff && root.cardinality.kind == Cardinality::Kind::kUnknown) {
    const Instance& culprit = FirstUncounted(root);
    return Refuse(culprit, UnsupportedError("even= needs a known number of rows on every rank, and that of ",
                                            culprit.arguments.name, " is not known before it runs; use even=\"off\""));
  }
  if (deal.world == 1) return absl::OkStatus();
  return CheckDealt(root, deal);
}

absl::Status TreeBuilder::Build() {
  HEADRACE_RETURN_IF_ERROR(CheckDeal());
  HEADRACE_RETURN_IF_ERROR(CheckEpochs());
  Instance& root = *pipeline_.instance_;
  HEADRACE_RETURN_IF_ERROR(OpenCaches(root));
  std::vector<uint64_t> words = pipeline_.options_.stamps;
  if (words.empty()) words.assign(static_cast<size_t>(root.words), 0);
  if (static_cast<int>(words.size()) != root.words) {
    return StateError("the state has ", words.size(), " counters, this pipeline ", root.words);
  }
  HEADRACE_RETURN_IF_ERROR(CheckWords(root, pipeline_.options_.deal, words));
  Close(BuildNode(root, pipeline_.options_.epochs, words));
  HEADRACE_RETURN_IF_ERROR(opened_);
  std::reverse(pipeline_.stages_.begin(), pipeline_.stages_.end());
  return absl::OkStatus();
}

TreeBuilder::Open TreeBuilder::BuildNode(Instance& instance, EpochRange epochs, absl::Span<const uint64_t> words) {
  Open open = instance.indexed || instance.stream_source ? BuildSource(instance, epochs, words)
              : instance.row                             ? BuildRow(instance, epochs, words)
                                                         : BuildStream(instance, epochs, words);
  open.top = &instance;
  return open;
}

TreeBuilder::Open TreeBuilder::BuildSource(Instance& instance, EpochRange epochs, absl::Span<const uint64_t> words) {
  Open open;
  open.kind = instance.indexed ? Open::Kind::kIndexed : Open::Kind::kStreamSource;
  open.source = &instance;
  open.epochs = epochs;
  open.words.assign(words.begin(), words.end());
  open.caches = std::exchange(caches_, {});
  if (instance.traits.file_io) open.lane = Lane::kIo;
  if (instance.traits.python) {
    open.lane = Lane::kPython;
    open.gated = true;
    open.cap = 1;
    open.sealed = true;
  }
  return open;
}

TreeBuilder::Open TreeBuilder::BuildRow(Instance& instance, EpochRange epochs, absl::Span<const uint64_t> words) {
  const size_t below = static_cast<size_t>(instance.inputs[0]->words);
  opened_.Update(OpenAutomatic(instance, epochs));
  if (auto cache = instance.row->row_cache()) caches_.push_back(std::move(cache));
  std::vector<std::shared_ptr<RowCache>> caches = caches_;
  Open input = BuildNode(*instance.inputs[0], epochs, words.subspan(0, below));
  const bool one_to_many = instance.row->one_to_many();
  if (instance.traits.light && !one_to_many && !input.sealed) {
    input.elements.push_back(ElementOf(instance));
    return input;
  }
  Open open;
  open.kind = Open::Kind::kRow;
  open.caches = std::move(caches);
  open.inputs.push_back(Close(std::move(input)));
  if (instance.traits.python) {
    open.lane = Lane::kPython;
    open.gated = true;
    const int workers = pipeline_.options_.workers;
    open.cap = instance.traits.ordered ? 1 : workers > 0 ? workers : WorkerPool::Cores();
  }
  if (one_to_many) {
    open.sealed = true;
    open.before.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(below));
    open.skip_parts = words[below];
  }
  open.elements.push_back(ElementOf(instance));
  return open;
}

TreeBuilder::Open TreeBuilder::BuildStream(Instance& instance, EpochRange epochs, absl::Span<const uint64_t> words) {
  StreamOperator& op = *instance.stream;
  const size_t below = words.size() - static_cast<size_t>(instance.own_words);
  const absl::Span<const uint64_t> own = words.subspan(below);
  op.SetLastEpoch(epochs.last);
  op.Start(epochs.first, own, Stamps(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(below)));
  std::vector<Open> inputs;
  size_t at = 0;
  for (size_t i = 0; i < instance.inputs.size(); ++i) {
    const size_t width = static_cast<size_t>(instance.inputs[i]->words);
    EpochRange range{op.StartInputEpoch(static_cast<int>(i), epochs.first, own), op.LastInputEpoch(epochs.last)};
    if (!op.needs_input()) range = {1, 0};
    inputs.push_back(BuildNode(*instance.inputs[i], range, words.subspan(at, width)));
    at += width;
  }
  const bool batches = instance.arguments.node->op() == "batch";
  if (inputs.size() == 1 && inputs[0].kind == Open::Kind::kStream && !inputs[0].sealed) {
    if (inputs[0].inputs.size() == 1 && batches) {
      GivePlaces(inputs[0].inputs[0], inputs[0].elements, instance, epochs, own[0]);
    }
    inputs[0].elements.push_back(ElementOf(instance));
    inputs[0].batches |= batches;
    return std::move(inputs[0]);
  }
  Open open;
  open.kind = Open::Kind::kStream;
  open.batches = batches;
  for (Open& input : inputs) open.inputs.push_back(Close(std::move(input)));
  if (open.inputs.size() == 1 && batches) GivePlaces(open.inputs[0], {}, instance, epochs, own[0]);
  open.elements.push_back(ElementOf(instance));
  return open;
}

void TreeBuilder::GivePlaces(Stage* below, absl::Span<const Element> between, const Instance& batch, EpochRange epochs,
                             uint64_t skipped) const {
  auto* rows = dynamic_cast<RowStage*>(below);
  if (rows == nullptr || !rows->elements().back().row->writes_places() || batch.stream->rows_per_batch() == 0) return;
  std::vector<const StreamOperator*> operators;
  for (const Element& element : between) {
    if (element.stream == nullptr || !element.stream->passes_rows()) return;
    operators.push_back(element.stream.get());
  }
  std::vector<ir::ColumnType> types;
  for (const ir::Column& column : batch.arguments.inputs[0].columns) types.push_back(column.type);
  const int64_t batch_rows = batch.stream->rows_per_batch();
  if (!BatchPlaces::Useful(batch_rows, types, pipeline_.options_.memory)) return;
  const auto last_epoch = [operators](uint64_t epoch) {
    for (size_t i = operators.size(); i-- > 0;) epoch = operators[i]->LastInputEpoch(epoch);
    return epoch;
  };
  rows->set_places(std::make_unique<BatchPlaces>(&static_cast<RunControl&>(pipeline_), batch_rows, std::move(types),
                                                 static_cast<int64_t>(skipped), epochs, last_epoch));
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
          options.deal, open.epochs, open.words[0]);
      break;
    case Open::Kind::kStreamSource:
      made = std::make_unique<StreamSourceStage>(std::move(stage), control, std::move(open.elements),
                                                 std::move(open.source->stream_source), open.source->arguments.name,
                                                 open.source->arguments.location, open.source->arguments.epoch_cycle,
                                                 options.deal, open.epochs, std::move(open.words));
      break;
    case Open::Kind::kRow:
      made = std::make_unique<RowStage>(std::move(stage), control, open.inputs[0], std::move(open.elements),
                                        Stamps(open.before.begin(), open.before.end()), open.skip_parts);
      break;
    case Open::Kind::kStream:
      made = std::make_unique<StreamStage>(std::move(stage), control, std::move(open.inputs), std::move(open.elements));
      break;
  }
  pipeline_.stages_.push_back(std::move(made));
  return pipeline_.stages_.back().get();
}

}  // namespace headrace
