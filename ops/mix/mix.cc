#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "engine/operator/operator.h"
#include "ops/mix/mixed_source.h"
#include "ops/mix/mixture_draws.h"
#include "ops/mix/mixture_rows.h"
#include "ops/mix/mixture_table.h"
#include "ops/rows/gather_rows.h"
#include "ops/rows/held_input.h"
#include "ops/rows/same_columns.h"

namespace headrace {
namespace {

MixtureStop StopOf(const ir::Attributes& attributes) {
  const std::string stop = attributes.String("stop");
  return stop == "first" ? MixtureStop::kFirst : stop == "all" ? MixtureStop::kAll : MixtureStop::kRepeat;
}

// Gives the next row of the input that each draw takes. An input without a row left is found when it is drawn, by its
// end-of-epoch marker. Asks an input for a message only when it is drawn, except for the first one of all, from which
// it learns how many counters the input's checkpoint has. Under MixtureStop::kRepeat the passes of an input are its
// epochs, as RepeatOperator numbers them, and each input counts its own.
class MixOperator : public StreamOperator {
 public:
  explicit MixOperator(const OpArguments& arguments)
      : column_indices_(ColumnIndicesOf(arguments)),
        stop_(StopOf(arguments.attributes)),
        stream_(RowRandom::StreamOf(arguments.seed, arguments.salt)),
        cycle_(arguments.epoch_cycle),
        draws_(arguments.attributes.Floats("weights")),
        inputs_(column_indices_.size()),
        passes_(inputs_.size()),
        had_rows_(inputs_.size()),
        gathered_(inputs_.size()) {}

  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override {
    for (const uint64_t used : counters.subspan(1, inputs_.size())) {
      if (used == kEnded && stop_ == MixtureStop::kAll) continue;
      HEADRACE_RETURN_IF_ERROR(CheckRowsOfMessage(stop_ == MixtureStop::kRepeat ? used & ~kHadRows : used));
    }
    for (const uint64_t pass : counters.subspan(1 + inputs_.size())) {
      if (pass >= kMixturePasses - 1) return CounterError("stood at pass ", pass, " of an input");
    }
    return absl::OkStatus();
  }

  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) override {
    start_ = inputs;
    StartEpoch(epoch);
    draw_ = counters[0];
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const bool ended = counters[i + 1] == kEnded;
      if (ended) draws_.LeaveOut(i);
      inputs_[i].Start(ended ? 0 : counters[i + 1] & ~kHadRows);
      if (stop_ != MixtureStop::kRepeat) continue;
      had_rows_[i] = (counters[i + 1] & kHadRows) != 0;
      passes_[i] = counters[1 + inputs_.size() + i];
    }
  }

  int wants() const override {
    const auto unknown = [](const HeldInput& input) { return !input.width().has_value(); };
    const auto found = std::find_if(inputs_.begin(), inputs_.end(), unknown);
    return static_cast<int>(found == inputs_.end() ? drawn_ : static_cast<size_t>(found - inputs_.begin()));
  }

  void Receive(int input, Message message, Outbox& out) override {
    const auto from = static_cast<size_t>(input);
    if (message->epoch < EpochOfInput(from)) return;
    had_rows_[from] = had_rows_[from] || message->rows() > 0;
    Reorder(column_indices_[from], message->columns);
    most_rows_ = std::max(most_rows_, static_cast<size_t>(message->rows()));
    inputs_[from].Hold(std::move(message));
    while (Step(out)) {
    }
  }

  void Finish(uint64_t epoch) override {
    wanted_from_ = std::max(wanted_from_, epoch + 1);
    if (epoch < epoch_) return;
    removed_.removed.reset();
    for (HeldInput& input : inputs_) input.DropRows(LastOfInputs(epoch));
  }

  size_t held_bytes() const override {
    size_t bytes = 0;
    for (const HeldInput& input : inputs_) bytes += input.bytes();
    return bytes;
  }

 private:
  // Instead of the rows used: the input was found to have no more.
  static constexpr uint64_t kEnded = std::numeric_limits<uint64_t>::max();
  // Beside the rows used, under kRepeat: rows of the pass came before those of the message.
  static constexpr uint64_t kHadRows = uint64_t{1} << 32;

  // The current one.
  uint64_t EpochOfInput(size_t input) const {
    return stop_ == MixtureStop::kRepeat ? epoch_ * kMixturePasses + passes_[input] : epoch_;
  }
  // The last of the numbers that inputs have in an epoch. One that is not wanted ends with that or the one before.
  uint64_t LastOfInputs(uint64_t epoch) const {
    return stop_ == MixtureStop::kRepeat ? epoch * kMixturePasses + (kMixturePasses - 1) : epoch;
  }

  void StartEpoch(uint64_t epoch) {
    epoch_ = epoch;
    passes_.assign(passes_.size(), 0);
    had_rows_.assign(had_rows_.size(), false);
    draws_.Begin(RowRandom::KeyOf(stream_, RowEpochOf(epoch, cycle_)));
    draw_ = 0;
    attempt_ = 0;
  }

  // Whether it could do anything.
  bool Step(Outbox& out) {
    const auto known = [](const HeldInput& input) { return input.width().has_value(); };
    if (!std::all_of(inputs_.begin(), inputs_.end(), known)) return false;
    if (draws_.inputs_left() == 0) {
      EndEpoch(out);
      return true;
    }
    Gather();
    if (!rows_.empty()) {
      GiveRows(out);
      return true;
    }
    HeldInput& input = inputs_[drawn_];
    if (input.empty()) return PassOnRemoved(input, out);
    if (input.at_end()) {
      TakeEnd(input, out);
    } else {
      GiveAlone(input, out);
    }
    return true;
  }

  // Draws up to an input whose next row is not there, or leaves alone.
  void Gather() {
    rows_.clear();
    std::fill(gathered_.begin(), gathered_.end(), 0);
    while (true) {
      drawn_ = draws_.At(draw_, attempt_);
      HeldInput& input = inputs_[drawn_];
      int& gathered = gathered_[drawn_];
      if (input.empty() || input.rows() == gathered || input.block().tombstone()) return;
      // What was removed before a row stands at the front of a message.
      const bool removed = gathered == 0 && input.has_removed();
      if ((removed && !rows_.empty()) || rows_.size() == most_rows_) return;
      if (removed) input.GiveRemoved(removed_);
      const int row = input.row() + gathered++;
      Identify(input.block().ids[row]);
      rows_.push_back({&input.block(), row});
      NextDraw();
    }
  }

  // As MixedSource names a row of the input drawn.
  void Identify(RowId& id) const {
    if (stop_ == MixtureStop::kRepeat) {
      id.key = MixKey(id.key, passes_[drawn_]);
      id.epoch = RowEpochOf(epoch_, cycle_);
    }
    id.key = MixKey(id.key, drawn_);
  }

  void GiveRows(Outbox& out) {
    const auto from = static_cast<size_t>(
        std::find_if(gathered_.begin(), gathered_.end(), [](int n) { return n > 0; }) - gathered_.begin());
    HeldInput& first = inputs_[from];
    const bool whole =
        static_cast<size_t>(first.block().rows()) == rows_.size() && gathered_[from] == first.block().rows();
    if (whole) {
      Give(first.TakeAllRows(), out);
      return;
    }
    Message joined = GatherRows(rows_);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (gathered_[i] > 0) inputs_[i].UseRows(gathered_[i]);
    }
    Give(std::move(joined), out);
  }

  // Ahead of the next row, so that nothing is collected where rows fail on and on. False: nothing was removed.
  bool PassOnRemoved(HeldInput& input, Outbox& out) {
    if (!input.has_removed()) return false;
    input.GiveRemoved(removed_);
    auto note = std::make_unique<Block>();
    note->epoch = epoch_;
    note->checkpoint = CheckpointNow();
    // That checkpoint is the one before the removed rows, which would come again.
    note->continues = true;
    note->TakeRemovedOf(removed_);
    out.Give(std::move(note));
    return true;
  }

  // A tombstone or an error, each of which counts as the row of its draw.
  void GiveAlone(HeldInput& input, Outbox& out) {
    input.GiveRemoved(removed_);
    NextDraw();
    if (input.at_error()) {
      absl::Status error = input.TakeError();
      Give(MakeErrorMessage(epoch_, {}, std::move(error)), out);
      return;
    }
    Message tombstone = input.TakeAllRows();
    Identify(tombstone->ids[0]);
    Give(std::move(tombstone), out);
  }

  void Give(Message message, Outbox& out) {
    message->epoch = epoch_;
    message->checkpoint = CheckpointNow();
    message->continues = false;
    message->TakeRemovedOf(removed_);
    out.Give(std::move(message));
  }

  void NextDraw() {
    ++draw_;
    attempt_ = 0;
  }

  void TakeEnd(HeldInput& input, Outbox& out) {
    input.GiveRemoved(removed_);
    if (stop_ == MixtureStop::kRepeat && !EndsEpoch(input, out)) {
      BeginPass(input);
    } else if (stop_ == MixtureStop::kAll) {
      draws_.LeaveOut(drawn_);
      ++attempt_;
    } else {
      EndEpoch(out);
    }
  }

  // Whether the input drawn is the last to be found empty, or no more of the epoch is wanted.
  bool EndsEpoch(const HeldInput& input, Outbox& out) {
    if (input.block().epoch + 1 >= LastOfInputs(epoch_)) return true;
    absl::Status refused = had_rows_[drawn_] ? CheckMixturePass(drawn_, passes_[drawn_] + 1) : NoRows(drawn_);
    if (!refused.ok() && epoch_ >= wanted_from_) {
      Give(MakeErrorMessage(epoch_, {}, std::move(refused)), out);
      return false;
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if ((passes_[i] > 0) == (i == drawn_)) return false;
    }
    return true;
  }

  void BeginPass(HeldInput& input) {
    ++passes_[drawn_];
    had_rows_[drawn_] = false;
    size_t at = 0;
    for (size_t i = 0; i < drawn_; ++i) at += *inputs_[i].width();
    std::fill_n(start_.begin() + static_cast<std::ptrdiff_t>(at), *input.width(), 0);
    input.StartNext(epoch_);
  }

  static absl::Status NoRows(size_t input) {
    return GraphError("has no end with stop=\"repeat\": input ", input,
                      " gave no rows in a pass, and would not however often it began again");
  }

  void EndEpoch(Outbox& out) {
    uint64_t ended = epoch_;
    for (const HeldInput& input : inputs_) {
      if (!input.at_end()) continue;
      const uint64_t epoch = input.block().epoch;
      ended = std::max(ended, stop_ == MixtureStop::kRepeat ? epoch / kMixturePasses : epoch);
    }
    Message end = MakeEndOfEpoch(ended, CheckpointNow());
    end->TakeRemovedOf(removed_);
    out.Give(std::move(end));
    start_.assign(start_.size(), 0);
    StartEpoch(ended + 1);
    const uint64_t last = LastOfInputs(ended);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].StartNext(last)) out.FinishEpoch(static_cast<int>(i), last);
    }
  }

  Checkpoint CheckpointNow() const {
    Checkpoint checkpoint;
    auto start = start_.begin();
    for (const HeldInput& input : inputs_) {
      input.AppendCheckpoint(start, checkpoint);
      start += static_cast<std::ptrdiff_t>(*input.width());
    }
    checkpoint.push_back(draw_);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const uint64_t used = inputs_[i].used() | (had_rows_[i] && stop_ == MixtureStop::kRepeat ? kHadRows : 0);
      checkpoint.push_back(draws_.left(i) ? used : kEnded);
    }
    if (stop_ == MixtureStop::kRepeat) checkpoint.insert(checkpoint.end(), passes_.begin(), passes_.end());
    return checkpoint;
  }

  const ColumnIndices column_indices_;
  const MixtureStop stop_;
  const uint64_t stream_;
  const uint64_t cycle_;
  MixtureDraws draws_;
  std::vector<HeldInput> inputs_;
  Checkpoint start_;              // the checkpoints of all inputs, concatenated
  std::vector<uint64_t> passes_;  // of each input, those that ended in this epoch
  std::vector<bool> had_rows_;    // of each input, in its pass
  uint64_t epoch_ = 0;
  uint64_t wanted_from_ = 0;  // epochs below it are not needed
  uint64_t draw_ = 0;
  int attempt_ = 0;   // of the draw: how many inputs it found empty
  size_t drawn_ = 0;  // the input of the draw
  Block removed_;     // without rows; holds what was removed before the next row given
  std::vector<RowInBlock> rows_;
  std::vector<int> gathered_;  // of each input, those of rows_
  size_t most_rows_ = 1;       // of a message that came
};

// Draws have 53 bits: an input of a much smaller share would come too rarely, or never.
absl::Status CheckShares(const std::vector<double>& weights) {
  constexpr double kLeastShare = 0x1p-40;
  // Divided by the largest, as the sum of the weights may be beyond a double.
  const double largest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (const double weight : weights) sum += weight / largest;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] / largest >= kLeastShare * sum) continue;
    return GraphError("weights[", i, "] is ", weights[i],
                      ", less than 2**-40 of the sum of all weights; raise it, or leave out this input");
  }
  return absl::OkStatus();
}

absl::StatusOr<ir::Schema> Infer(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  const std::vector<double> weights = attributes.Floats("weights");
  if (weights.size() != inputs.size()) {
    return GraphError("has ", inputs.size(), " inputs and ", weights.size(),
                      " weights; give one weight for each input");
  }
  if (inputs.size() > MixtureTable::kMostInputs) {
    return UnsupportedError("has ", inputs.size(), " inputs; at most ", MixtureTable::kMostInputs, " can be mixed");
  }
  HEADRACE_RETURN_IF_ERROR(CheckShares(weights));
  return InferSameColumns(attributes, inputs);
}

// Where the inputs are not read by number: what the draws of the first epoch give.
Cardinality CountMixed(const OpArguments& arguments, absl::Span<const Cardinality> inputs) {
  if (StopOf(arguments.attributes) == MixtureStop::kAll) return RowsTogether(arguments, inputs);
  // Passes need not have equal numbers of rows.
  if (StopOf(arguments.attributes) == MixtureStop::kRepeat) return Cardinality::Unknown();
  // More are not worth the time, which the caller waits.
  constexpr uint64_t kMostDraws = uint64_t{1} << 22;
  std::vector<uint64_t> sizes;
  bool endless = true;
  for (const Cardinality& input : inputs) {
    if (input.kind == Cardinality::Kind::kUnknown) return input;
    endless = endless && !input.known();
    sizes.push_back(input.known() ? input.rows : std::numeric_limits<uint64_t>::max());
  }
  if (endless) return Cardinality::Endless();
  MixtureDraws draws(arguments.attributes.Floats("weights"));
  const uint64_t stream = RowRandom::StreamOf(arguments.seed, arguments.salt);
  draws.Begin(RowRandom::KeyOf(stream, arguments.first_epoch));
  uint64_t rows = 0;
  const auto give = [&rows](size_t /*input*/) { return ++rows <= kMostDraws; };
  const auto begin_pass = [](size_t /*input*/, uint64_t /*pass*/) { return true; };
  const bool all = DrawMixture(MixtureStop::kFirst, sizes, draws, give, begin_pass);
  return all ? Cardinality::Of(rows) : Cardinality::Unknown();
}

std::optional<uint64_t> MostRows(const ir::Attributes& attributes, absl::Span<const std::optional<uint64_t>> inputs) {
  if (StopOf(attributes) == MixtureStop::kRepeat) return std::nullopt;
  return MostRowsTogether(attributes, inputs);
}

const OpRegistration mix_registration(
    {
        .name = "mix",
        .role = ir::Role::kStream,
        .summary = "Gives rows of several data sets, drawn with given weights.",
        .doc = "Each draw takes the next row of one of the inputs, input i with probability weights[i] / sum(weights), "
               "whatever came before. `stop` says what the draw of an input without a row left does. \"first\": it "
               "ends the epoch. \"all\": this input is drawn no more, and the others keep their proportions, until "
               "all are empty. \"repeat\": the input begins its next pass, as under an endless repeat, and the epoch "
               "ends when each has been found empty once. Draw i depends on the seed, the epoch and i alone.\n"
               "The inputs must have the same columns, of the same dtypes, as for concat. A row's key is its own mixed "
               "with the number of its input, under \"repeat\" first with the pass. Over sources with random access it "
               "has random access, too, and the rows of all ranks are drawn together; elsewhere each rank mixes its "
               "own rows, with the same draws.\n"
               "Errors: another number of weights than of inputs; a weight that is not a finite number above 0, or is "
               "less than `2**-40` of the sum; an empty input under \"repeat\".",
        .min_inputs = 1,
        .max_inputs = -1,
        .attributes = {{.name = "weights",
                        .type = ir::AttributeType::kFloats,
                        .doc = "One for each input; of any sum.",
                        .minimum = 0.0,
                        .exclusive_minimum = true,
                        .length = ir::ListLength{1, MixtureTable::kMostInputs}},
                       {.name = "stop",
                        .type = ir::AttributeType::kString,
                        .doc = "What the draw of an input without a row left does.",
                        .choices = {"first", "all", "repeat"}}},
        .traits = {.random = true, .indexed = true},
        .python_module = "functions",
        .python = {.parameters = "inputs: Sequence[Dataset], weights: Sequence[float], stop: Literal[\"first\", "
                                 "\"all\", \"repeat\"], *, seed: int | None = None, name: str | None = None",
                   .docs = {{"inputs", "The datasets, at least one."}, {"weights"}, {"stop"}, {"seed"}, {"name"}}},
        .example = "hr.mix([ds, other], weights=[3, 1], stop=\"all\")",
        .infer = Infer,
        .reads = ReadsSameColumns,
        .most_rows = MostRows,
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       return std::make_unique<MixOperator>(arguments);
     },
     .indexed = [](const OpArguments& arguments,
                   IndexedSources inputs) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
       return MixSources(arguments, StopOf(arguments.attributes), arguments.attributes.Floats("weights"),
                         std::move(inputs));
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           // The draws made, and for each input the rows used after its checkpoint, and under "repeat" its pass.
           const int inputs = static_cast<int>(arguments.inputs.size());
           properties.checkpoint_counters = 1 + inputs;
           properties.new_order_each_epoch = true;
           const MixtureStop stop = StopOf(arguments.attributes);
           properties.rows_differ = stop != MixtureStop::kAll;
           if (stop != MixtureStop::kRepeat) return;
           properties.checkpoint_counters += inputs;
           properties.epochs = {.stride = kMixturePasses, .runs = kMixturePasses - 1, .counter = 1 + inputs};
           uint64_t cycle = 0;
           const bool beyond = __builtin_mul_overflow(arguments.epoch_cycle, kMixturePasses, &cycle);
           properties.input_cycle = beyond ? 0 : cycle;
         },
     .cardinality = CountMixed});

}  // namespace
}  // namespace headrace
