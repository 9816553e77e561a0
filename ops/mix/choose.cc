#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/row_id.h"
#include "engine/operator/operator.h"
#include "kernels/numbers/number.h"
#include "ops/rows/gather_rows.h"
#include "ops/rows/held_input.h"
#include "ops/rows/same_columns.h"

namespace headrace {
namespace {

// The inputs among which the last one chooses.
absl::Span<const ir::Schema> ChosenSchemas(absl::Span<const ir::Schema> inputs) {
  return inputs.first(inputs.size() - 1);
}

ColumnIndices ChosenColumns(const OpArguments& arguments) {
  OpArguments chosen = arguments;
  chosen.inputs.pop_back();
  return ColumnIndicesOf(chosen);
}

// The whole number of a row; nullopt: it is something else, or beyond int64.
std::optional<int64_t> ChoiceOf(const Tensor& value) {
  if (value.rank() != 0 || !IsInteger(value.dtype())) return std::nullopt;
  if (value.dtype() == DType::kUInt64 && value.value<uint64_t>() >> 63 != 0) return std::nullopt;
  int64_t choice = 0;
  VisitNumber(value.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) choice = static_cast<int64_t>(value.value<T>());
  });
  return choice;
}

// Gives, for each row of the last input, the next row of the input whose number it holds. Asks an input for a message
// only when it is chosen, except for the first one of all, from which it learns how many counters the input's
// checkpoint has.
class ChooseOperator : public StreamOperator {
 public:
  explicit ChooseOperator(const OpArguments& arguments)
      : column_indices_(ChosenColumns(arguments)),
        skips_empty_(arguments.attributes.String("stop") == "all"),
        inputs_(arguments.inputs.size()),
        choices_(inputs_.size() - 1),
        gathered_(inputs_.size()),
        ended_(choices_) {}

  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override {
    for (size_t i = 0; i < counters.size(); ++i) {
      const bool may_end = skips_empty_ && i < choices_;
      HEADRACE_RETURN_IF_ERROR(CheckRowsOfMessage(may_end ? counters[i] & ~kEnded : counters[i]));
    }
    return absl::OkStatus();
  }

  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) override {
    start_ = inputs;
    StartEpoch(epoch);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      inputs_[i].Start(counters[i] & ~kEnded);
      if (i < choices_) ended_[i] = (counters[i] & kEnded) != 0;
    }
  }

  int wants() const override {
    const auto unknown = [](const HeldInput& input) { return !input.width().has_value(); };
    const auto found = std::find_if(inputs_.begin(), inputs_.end(), unknown);
    return static_cast<int>(found == inputs_.end() ? wanted_ : static_cast<size_t>(found - inputs_.begin()));
  }

  void Receive(int input, Message message, Outbox& out) override {
    if (message->epoch < epoch_) return;
    const auto from = static_cast<size_t>(input);
    if (from < choices_) Reorder(column_indices_[from], message->columns);
    most_rows_ = std::max(most_rows_, static_cast<size_t>(message->rows()));
    inputs_[from].Hold(std::move(message));
    while (Step(out)) {
    }
  }

  void Finish(uint64_t epoch) override {
    if (epoch < epoch_) return;
    removed_.removed.reset();
    for (HeldInput& input : inputs_) input.DropRows(epoch);
  }

  size_t held_bytes() const override {
    size_t bytes = 0;
    for (const HeldInput& input : inputs_) bytes += input.bytes();
    return bytes;
  }

 private:
  // Beside the rows used: the input was found to have no more.
  static constexpr uint64_t kEnded = uint64_t{1} << 32;

  void StartEpoch(uint64_t epoch) {
    epoch_ = epoch;
    ended_.assign(choices_, false);
    wanted_ = choices_;
  }

  HeldInput& choice() { return inputs_[choices_]; }

  // Whether it could do anything.
  bool Step(Outbox& out) {
    const auto known = [](const HeldInput& input) { return input.width().has_value(); };
    if (!std::all_of(inputs_.begin(), inputs_.end(), known)) return false;
    const absl::Status refused = Gather();
    if (!rows_.empty()) {
      GiveRows(out);
      return true;
    }
    if (!refused.ok()) {
      choice().GiveRemoved(removed_);
      choice().UseRows(1);
      Give(MakeErrorMessage(epoch_, {}, refused), out);
      return true;
    }
    HeldInput& input = inputs_[wanted_];
    if (input.empty()) return PassOnRemoved(input, out);
    if (!input.at_end()) {
      GiveAlone(input, out);
    } else if (wanted_ == choices_ || !PassEnded(input)) {
      input.GiveRemoved(removed_);
      EndEpoch(out);
    }
    return true;
  }

  // Takes rows up to one that is not there, or leaves alone; `wanted_` is then the input that it is of. An error if the
  // next choice is of no input.
  absl::Status Gather() {
    rows_.clear();
    std::fill(gathered_.begin(), gathered_.end(), 0);
    while (true) {
      wanted_ = choices_;
      if (!HasRow(choices_)) return absl::OkStatus();
      const int row = choice().row() + gathered_[choices_];
      const Tensor value = choice().block().columns[0].row(row);
      const std::optional<int64_t> chosen = ChoiceOf(value);
      if (!chosen.has_value() || *chosen < 0 || static_cast<uint64_t>(*chosen) >= choices_) {
        return NoInput(value, chosen, choice().block(), row);
      }
      wanted_ = static_cast<size_t>(*chosen);
      if (!HasRow(wanted_) || rows_.size() == most_rows_) return absl::OkStatus();
      Take(wanted_);
    }
  }

  // Whether the next row of the input is there and can be joined with those gathered.
  bool HasRow(size_t number) {
    HeldInput& input = inputs_[number];
    const int gathered = gathered_[number];
    if (input.empty() || input.rows() == gathered || input.block().tombstone()) return false;
    // What was removed before a row stands at the front of a message.
    return gathered > 0 || !input.has_removed() || rows_.empty();
  }

  void Take(size_t number) {
    for (const size_t each : {choices_, number}) {
      if (gathered_[each] == 0 && inputs_[each].has_removed()) inputs_[each].GiveRemoved(removed_);
    }
    HeldInput& input = inputs_[number];
    const int row = input.row() + gathered_[number]++;
    ++gathered_[choices_];
    Identify(number, input.block().ids[row]);
    rows_.push_back({&input.block(), row});
  }

  static void Identify(size_t number, RowId& id) { id.key = MixKey(id.key, number); }

  absl::Status NoInput(const Tensor& value, std::optional<int64_t> chosen, const Block& block, int row) const {
    absl::Status error = DataError("chooses input ", chosen.has_value() ? Cat(*chosen) : value.TypeName(),
                                   "; it must be a whole number of 0 … ", choices_ - 1);
    AddErrorField(error, ErrorField::kRow, DescribeRowId(block.ids[row]));
    return error;
  }

  void GiveRows(Outbox& out) {
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

  // A tombstone or an error: of the chosen input it counts as the row of its choice, of the choices as one of them.
  void GiveAlone(HeldInput& input, Outbox& out) {
    const size_t from = wanted_;
    input.GiveRemoved(removed_);
    if (from < choices_) {
      choice().GiveRemoved(removed_);
      choice().UseRows(1);
    }
    if (input.at_error()) {
      absl::Status error = input.TakeError();
      Give(MakeErrorMessage(epoch_, {}, std::move(error)), out);
      return;
    }
    Message tombstone = input.TakeAllRows();
    Identify(from, tombstone->ids[0]);
    Give(std::move(tombstone), out);
  }

  void Give(Message message, Outbox& out) {
    message->epoch = epoch_;
    message->checkpoint = CheckpointNow();
    message->continues = false;
    message->TakeRemovedOf(removed_);
    out.Give(std::move(message));
  }

  // Passes over the choice of an input that has no row left. False: the epoch ends.
  bool PassEnded(HeldInput& input) {
    if (!skips_empty_) return false;
    input.GiveRemoved(removed_);
    ended_[wanted_] = true;
    if (std::find(ended_.begin(), ended_.end(), false) == ended_.end()) return false;
    choice().GiveRemoved(removed_);
    choice().UseRows(1);
    return true;
  }

  void EndEpoch(Outbox& out) {
    uint64_t ended = epoch_;
    for (const HeldInput& input : inputs_) {
      if (input.at_end()) ended = std::max(ended, input.block().epoch);
    }
    Message end = MakeEndOfEpoch(ended, CheckpointNow());
    end->TakeRemovedOf(removed_);
    out.Give(std::move(end));
    start_.assign(start_.size(), 0);
    StartEpoch(ended + 1);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].StartNext(ended)) out.FinishEpoch(static_cast<int>(i), ended);
    }
  }

  Checkpoint CheckpointNow() const {
    Checkpoint checkpoint;
    auto start = start_.begin();
    for (const HeldInput& input : inputs_) {
      input.AppendCheckpoint(start, checkpoint);
      start += static_cast<std::ptrdiff_t>(*input.width());
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      checkpoint.push_back(inputs_[i].used() | (i < choices_ && ended_[i] ? kEnded : 0));
    }
    return checkpoint;
  }

  const ColumnIndices column_indices_;
  const bool skips_empty_;
  std::vector<HeldInput> inputs_;  // the last one has the choices
  const size_t choices_;           // its number
  Checkpoint start_;               // the checkpoints of all inputs, concatenated
  uint64_t epoch_ = 0;
  size_t wanted_ = 0;  // the input whose next row is needed
  Block removed_;      // without rows; holds what was removed before the next row given
  std::vector<RowInBlock> rows_;
  std::vector<int> gathered_;  // of each input, those of rows_, and their choices
  std::vector<bool> ended_;    // of each input that can be chosen: found to have no more rows
  size_t most_rows_ = 1;       // of a message that came
};

absl::StatusOr<ir::Schema> InferChoose(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  const ir::Schema& choice = inputs.back();
  if (choice.columns.size() != 1) {
    return GraphError("choice has ", choice.columns.size(),
                      " columns; it must have one, of whole numbers: use project to name it");
  }
  const ir::ColumnType& type = choice.columns[0].type;
  const bool array = type.shape.has_value() && !type.shape->empty();
  if (array || (type.dtype != DType::kUnknown && !IsInteger(type.dtype))) {
    return GraphError("choice, column \"", choice.columns[0].name, "\", is ", ir::TypeName(type),
                      "; it must be one whole number: the number of an input");
  }
  return InferSameColumns(attributes, ChosenSchemas(inputs));
}

std::vector<ir::ColumnSet> ReadsChoose(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                       const ir::ColumnSet& wanted) {
  std::vector<ir::ColumnSet> reads = ReadsSameColumns(attributes, ChosenSchemas(inputs), wanted);
  const std::vector<std::string> choice = inputs.back().Names();
  reads.emplace_back(choice.begin(), choice.end());
  return reads;
}

std::optional<uint64_t> MostChosen(const ir::Attributes& attributes, absl::Span<const std::optional<uint64_t>> inputs) {
  const std::optional<uint64_t> rows = MostRowsTogether(attributes, inputs.first(inputs.size() - 1));
  if (!rows.has_value() || !inputs.back().has_value()) return rows.has_value() ? rows : inputs.back();
  return std::min(*rows, *inputs.back());
}

const OpRegistration choose_registration(
    {
        .name = "choose",
        .role = ir::Role::kStream,
        .summary = "Gives rows of several data sets, in the order of a data set of their numbers.",
        .doc = "Each row of `choice`, which has one column of whole numbers, says of which input the next row comes: "
               "tf.data's choose_from_datasets. The epoch ends with the choices. `stop` says what the choice of an "
               "input without a row left does. \"first\": it ends the epoch. \"all\": it is passed over, until all "
               "inputs are empty.\n"
               "The inputs must have the same columns, of the same dtypes, as for concat. A row's key is its own mixed "
               "with the number of its input. With shards each rank chooses among its own rows, by its own rows of "
               "`choice`. hr.mix draws inputs with given weights.\n"
               "Errors: a number that is not one of 0 to the number of inputs - 1.",
        .min_inputs = 2,
        .max_inputs = -1,
        .attributes = {{.name = "stop",
                        .type = ir::AttributeType::kString,
                        .doc = "What the choice of an input without a row left does.",
                        .default_value = "'first'",
                        .choices = {"first", "all"}}},
        .python_module = "functions",
        .python = {.parameters = "inputs: Sequence[Dataset], choice: Dataset, stop: Literal[\"first\", \"all\"] = "
                                 "\"first\"",
                   .docs = {{"inputs", "The datasets, at least one."},
                            {"choice", "A dataset of one column, the numbers of the inputs, from 0."},
                            {"stop"}}},
        .example = "hr.choose([ds, other], hr.Range(2).repeat(3))",
        .infer = InferChoose,
        .reads = ReadsChoose,
        .most_rows = MostChosen,
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       return std::make_unique<ChooseOperator>(arguments);
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           // For each input, the rows used after its checkpoint.
           properties.checkpoint_counters = static_cast<int>(arguments.inputs.size());
         },
     .cardinality = [](const OpArguments& /*arguments*/, absl::Span<const Cardinality> inputs) -> Cardinality {
       return inputs.back().known() && inputs.back().rows == 0 ? inputs.back() : Cardinality::Unknown();
     }});

}  // namespace
}  // namespace headrace
