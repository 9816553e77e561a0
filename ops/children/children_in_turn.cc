#include "ops/children/children_in_turn.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/philox.h"
#include "engine/operator/host_parameter.h"
#include "engine/operator/listed_rows.h"
#include "ir/ragged_columns.h"
#include "ir/suggestion.h"
#include "ops/rows/bound_function.h"
#include "ops/rows/given_columns.h"

namespace headrace {
namespace {

constexpr uint64_t kMostRows = uint64_t{1} << 62;

// Children that wait take a small part of the budget.
size_t RunBytes(int64_t memory, size_t cycle) {
  constexpr size_t kPart = 16;
  constexpr size_t kMost = size_t{64} << 10;
  return std::clamp<size_t>(static_cast<size_t>(memory) / (kPart * cycle), 1, kMost);
}

// Of the input, those that the function gets.
std::vector<std::string> FunctionColumns(const ir::Attributes& attributes, const ir::Schema& input) {
  return attributes.IsNone("columns") ? input.Names() : attributes.Strings("columns");
}

std::vector<int> IndicesOf(const std::vector<std::string>& names, const ir::Schema& schema) {
  std::vector<int> indices;
  for (const std::string& name : names) indices.push_back(schema.IndexOf(name));
  return indices;
}

absl::StatusOr<std::unique_ptr<StreamOperator>> Make(const OpArguments& arguments, Turns turns) {
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<HostFunction> function,
                            BoundFunction(*arguments.run->bindings, arguments.attributes.ReferenceName("function")));
  return std::make_unique<ChildrenInTurn>(arguments, std::move(function), turns);
}

}  // namespace

ChildrenInTurn::ChildrenInTurn(const OpArguments& arguments, std::shared_ptr<HostFunction> function, Turns turns)
    : function_(std::move(function)),
      turns_(turns),
      lists_(arguments.lists_rows),
      inputs_(IndicesOf(FunctionColumns(arguments.attributes, arguments.inputs[0]), arguments.inputs[0])),
      limits_{arguments.output.columns, RunBytes(arguments.run->memory, turns.cycle)},
      names_(arguments.output.Names()),
      draws_(arguments.attributes.Bool("random")),
      seed_(arguments.seed),
      salt_(arguments.salt),
      slots_(turns.cycle) {}

absl::Status ChildrenInTurn::CheckCounters(absl::Span<const uint64_t> counters) const {
  if (counters[kTurn] >= slots_.size()) return CounterError("gave rows of slot ", counters[kTurn]);
  if (counters[kInTurn] >= static_cast<uint64_t>(turns_.block)) {
    return CounterError("gave ", counters[kInTurn], " rows in one turn");
  }
  if (counters[kUsed] > kMostRows) return CounterError("used ", counters[kUsed], " rows");
  if (lists_ && counters.back() != counters[kUsed]) {
    return CounterError("held ", counters[kUsed], " rows, and lists ", counters.back());
  }
  for (size_t i = kFirstSlot; i < kFirstSlot + 2 * slots_.size(); i += 2) {
    if (counters[i] > counters[kUsed]) return CounterError("held row ", counters[i], " of ", counters[kUsed]);
    if (counters[i + 1] > kMostRows) return CounterError("gave ", counters[i + 1], " rows of one");
  }
  return absl::OkStatus();
}

void ChildrenInTurn::Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) {
  Clear();
  rows_.Start(epoch, inputs, counters[kUsed]);
  awaited_.clear();
  if (lists_) awaited_.assign(ListedRows(counters).begin(), ListedRows(counters).end());
  turn_ = counters[kTurn];
  in_turn_ = static_cast<int64_t>(counters[kInTurn]);
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    slot.awaited = counters[kFirstSlot + 2 * i];
    slot.given = static_cast<int64_t>(counters[kFirstSlot + 2 * i + 1]);
    slot.open = slot.awaited == 0 && slot.given > 0;
    open_ += slot.open ? 1 : 0;
    if (lists_ && slot.awaited > 0) slot.number = awaited_[slot.awaited - 1];
  }
}

void ChildrenInTurn::Receive(int /*input*/, Message message, Outbox& out) {
  const bool waits = has_pending_output();
  rows_.Push(std::move(message));
  if (!waits) Continue(out);
}

void ChildrenInTurn::Continue(Outbox& out) {
  while (rows_.replaying() ? Replay(out) : Step(out)) continue;
}

void ChildrenInTurn::Finish(uint64_t epoch) {
  if (rows_.epoch() > epoch) return;
  Clear();
  rows_.Finish(epoch);
}

uint64_t ChildrenInTurn::NumberOfRow() const {
  if (!lists_) return rows_.next();
  return rows_.next() < awaited_.size() ? awaited_[rows_.next()] : rows_.position();
}

// Uses a row that was used before the restart; false: none came.
bool ChildrenInTurn::Replay(Outbox& out) {
  Block* const block = rows_.Current();
  if (block == nullptr) return false;
  if (!rows_.HasRow()) {
    if (block->end == End::kEpoch) {
      rows_.EndReplay();
      return true;
    }
    const bool failed = block->end == End::kError;
    if (failed) GiveError(std::move(block->error), out);
    rows_.Pop();
    return !failed;
  }
  const uint64_t place = rows_.next() + 1;
  const auto awaits = [place](const Slot& slot) { return slot.awaited == place; };
  const auto found = std::find_if(slots_.begin(), slots_.end(), awaits);
  if (found != slots_.end()) {
    Open(*found, *block);
  } else {
    rows_.Pass();
  }
  return true;
}

// Takes one step; false: gave a message, or needs one.
bool ChildrenInTurn::Step(Outbox& out) {
  Slot& slot = slots_[turn_];
  if (!slot.open) return Fill(slot, out);
  if (slot.row != nullptr && slot.row->HasNext()) {
    Give(slot, out);
    return false;
  }
  Close(slot);
  NextTurn();
  return true;
}

bool ChildrenInTurn::Fill(Slot& slot, Outbox& out) {
  Block* const block = rows_.Current();
  if (block == nullptr) return false;
  if (block->removed != nullptr) {
    PassOnRemoved(*block, out);
    return false;
  }
  if (rows_.HasRow()) {
    Open(slot, *block);
    return true;
  }
  if (block->end == End::kEpoch) {
    if (open_ == 0) {
      EndEpoch(block->epoch, out);
      return false;
    }
    NextTurn();
    return true;
  }
  const bool failed = block->end == End::kError;
  if (failed) GiveError(std::move(block->error), out);
  rows_.Pop();
  return !failed;
}

void ChildrenInTurn::Open(Slot& slot, Block& block) {
  slot.row = MakeRow(block);
  slot.number = NumberOfRow();
  slot.from = rows_.point();
  rows_.Pass();
  if (slot.awaited > 0) {
    slot.row->Drop(slot.given);
  } else {
    slot.given = 0;
  }
  slot.awaited = 0;
  slot.open = true;
  ++open_;
  Count(slot);
}

std::unique_ptr<OpenRow> ChildrenInTurn::MakeRow(Block& block) {
  const int row = rows_.row();
  const RowId id = block.ids[row];
  const Provenance provenance = block.provenances[row];
  if (block.tombstone()) {
    FailedRow failed{id, provenance, std::exchange(block.error, absl::OkStatus())};
    return std::make_unique<OpenRow>(id, provenance, &limits_, MakeTombstone(block.epoch, {}, std::move(failed)));
  }
  absl::StatusOr<std::unique_ptr<HostChildren>> children = CallFunction(block, row);
  if (children.ok()) return std::make_unique<OpenRow>(id, provenance, &limits_, *std::move(children));
  Message failed = OpenRow::FailedMessage(id, provenance, std::move(children).status());
  return std::make_unique<OpenRow>(id, provenance, &limits_, std::move(failed));
}

absl::StatusOr<std::unique_ptr<HostChildren>> ChildrenInTurn::CallFunction(const Block& block, int row) {
  HEADRACE_ASSIGN_OR_RETURN(ChildrenFunction* const function, FunctionOf(block.ids[row].epoch));
  std::vector<Tensor> values;
  for (const int input : inputs_) values.push_back(block.columns[static_cast<size_t>(input)].row(row));
  RowRandom random(seed_, salt_, block.ids[row]);
  return function->MakeChildren(values, draws_ ? &random : nullptr, names_);
}

absl::StatusOr<ChildrenFunction*> ChildrenInTurn::FunctionOf(uint64_t epoch) {
  if (epoch_of_function_ != epoch) {
    HEADRACE_ASSIGN_OR_RETURN(in_epoch_, FunctionInEpoch(function_, epoch));
    epoch_of_function_ = epoch;
  }
  auto* const function = dynamic_cast<ChildrenFunction*>(in_epoch_.get());
  if (function == nullptr) return InternalError("the function cannot be asked for rows");
  return function;
}

void ChildrenInTurn::Give(Slot& slot, Outbox& out) {
  Message message = slot.row->Next(turns_.block - in_turn_);
  // An error, or a row that failed, counts as a child.
  const int count = std::max(1, message->rows());
  slot.given += count;
  if (slot.row->done()) {
    Empty(slot);
  } else {
    Count(slot);
  }
  in_turn_ += count;
  if (in_turn_ == turns_.block) NextTurn();
  message->epoch = rows_.epoch();
  message->checkpoint = CheckpointNow();
  message->continues = false;
  out.Give(std::move(message));
}

void ChildrenInTurn::Count(Slot& slot) {
  held_bytes_ -= slot.bytes;
  slot.bytes = slot.row == nullptr ? 0 : slot.row->held_bytes();
  held_bytes_ += slot.bytes;
}

void ChildrenInTurn::Empty(Slot& slot) {
  if (slot.row != nullptr) slot.row->Close();
  slot.row.reset();
  Count(slot);
}

void ChildrenInTurn::Close(Slot& slot) {
  Reset(slot);
  --open_;
}

void ChildrenInTurn::Reset(Slot& slot) {
  Empty(slot);
  slot.open = false;
  slot.given = 0;
  slot.awaited = 0;
}

void ChildrenInTurn::NextTurn() {
  turn_ = turn_ + 1 == slots_.size() ? 0 : turn_ + 1;
  in_turn_ = 0;
}

// They belong to what comes next of the input, and count where it is asked for.
void ChildrenInTurn::PassOnRemoved(Block& block, Outbox& out) const {
  auto note = std::make_unique<Block>();
  note->epoch = rows_.epoch();
  note->checkpoint = CheckpointNow();
  note->continues = true;
  note->TakeRemovedOf(block);
  out.Give(std::move(note));
}

void ChildrenInTurn::GiveError(absl::Status error, Outbox& out) const {
  out.Give(MakeErrorMessage(rows_.epoch(), CheckpointNow(), std::move(error)));
}

Checkpoint ChildrenInTurn::CheckpointNow() const {
  if (lists_) return CheckpointListing();
  const Slot* oldest = nullptr;
  for (const Slot& slot : slots_) {
    if (slot.row != nullptr && (oldest == nullptr || slot.number < oldest->number)) oldest = &slot;
  }
  const ReplayPoint& from = oldest == nullptr ? rows_.point() : oldest->from;
  Checkpoint checkpoint = from.before;
  const auto place = [&from](const Slot& slot) { return slot.row == nullptr ? 0 : slot.number - from.first + 1; };
  AppendSlots(rows_.Since(from), place, checkpoint);
  return checkpoint;
}

Checkpoint ChildrenInTurn::CheckpointListing() const {
  std::vector<uint64_t> numbers;
  for (const Slot& slot : slots_) {
    if (Holds(slot)) numbers.push_back(slot.number);
  }
  std::sort(numbers.begin(), numbers.end());
  const auto place = [&](const Slot& slot) -> uint64_t {
    if (!Holds(slot)) return 0;
    return static_cast<uint64_t>(std::lower_bound(numbers.begin(), numbers.end(), slot.number) - numbers.begin()) + 1;
  };
  Checkpoint checkpoint = rows_.point().before;
  checkpoint[0] = rows_.position();
  AppendSlots(numbers.size(), place, checkpoint);
  checkpoint.insert(checkpoint.end(), numbers.begin(), numbers.end());
  checkpoint.push_back(numbers.size());
  return checkpoint;
}

void ChildrenInTurn::AppendSlots(uint64_t used, absl::FunctionRef<uint64_t(const Slot&)> place_of,
                                 Checkpoint& checkpoint) const {
  checkpoint.push_back(turn_);
  checkpoint.push_back(static_cast<uint64_t>(in_turn_));
  checkpoint.push_back(used);
  for (const Slot& slot : slots_) {
    const uint64_t place = place_of(slot);
    checkpoint.push_back(place);
    checkpoint.push_back(place == 0 ? (slot.open ? 1 : 0) : static_cast<uint64_t>(slot.given));
  }
}

void ChildrenInTurn::EndEpoch(uint64_t epoch, Outbox& out) {
  out.Give(MakeEndOfEpoch(epoch, CheckpointNow()));
  Clear();
  awaited_.clear();
  rows_.EndEpoch();
}

void ChildrenInTurn::Clear() {
  for (Slot& slot : slots_) Reset(slot);
  open_ = 0;
  turn_ = 0;
  in_turn_ = 0;
}

std::vector<ir::Attribute> ChildrenAttributes(std::vector<ir::Attribute> own) {
  own.insert(own.begin(), {{.name = "function",
                            .type = ir::AttributeType::kReference,
                            .doc = "The function that gives the rows of one, by name."},
                           {.name = "columns",
                            .type = ir::AttributeType::kStrings,
                            .doc = "The columns that it gets, in order; None: all.",
                            .default_value = "None",
                            .nullable = true,
                            .length = ir::ListLength{.least = 0}}});
  return WithGivenAttributes("row", std::move(own));
}

absl::StatusOr<ir::Schema> InferMade(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  const std::vector<std::string> columns = FunctionColumns(attributes, inputs[0]);
  HEADRACE_RETURN_IF_ERROR(ir::RefuseLists(inputs[0], columns, "taken apart by a function"));
  ir::Schema read;
  for (const std::string& name : columns) {
    HEADRACE_ASSIGN_OR_RETURN(const ir::Column* const column, ir::FindColumn(inputs[0], name));
    read.columns.push_back(*column);
  }
  ir::Schema made;
  HEADRACE_ASSIGN_OR_RETURN(made.columns, GivenColumns(attributes, read));
  return made;
}

std::vector<ir::ColumnSet> FunctionReads(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                         const ir::ColumnSet& /*wanted*/) {
  const std::vector<std::string> columns = FunctionColumns(attributes, inputs[0]);
  return {ir::ColumnSet(columns.begin(), columns.end())};
}

OpFactories ChildrenFactories(Turns (*turns_of)(const ir::Attributes& attributes)) {
  return {
      .stream = [turns_of](const OpArguments& arguments) { return Make(arguments, turns_of(arguments.attributes)); },
      .properties =
          [turns_of](const OpArguments& arguments, OperatorProperties& properties) {
            properties.checkpoint_counters = 3 + 2 * static_cast<int>(turns_of(arguments.attributes).cycle);
            properties.counters_if_listing = properties.checkpoint_counters + 1;
            properties.splits_messages = true;
          },
      .cardinality =
          [](const OpArguments& /*arguments*/, absl::Span<const Cardinality> inputs) {
            const bool none = inputs[0].known() && inputs[0].rows == 0;
            return none || inputs[0].kind == Cardinality::Kind::kEndless ? inputs[0] : Cardinality::Unknown();
          }};
}

}  // namespace headrace
