#include "ops/batch/batch_operator.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "engine/operator/batch_ranges.h"
#include "ir/graph.pb.h"
#include "ir/mark_padding.h"
#include "ops/batch/batch_columns.h"
#include "ops/rows/separate_copy.h"

namespace headrace {

BatchOperator::BatchOperator(const OpArguments& arguments, int size, std::unique_ptr<BatchRows> batch,
                             Numbered numbered, std::unique_ptr<BatchSizes> sizes, Runs runs)
    : run_(arguments.run),
      size_(sizes == nullptr ? size : 0),
      batch_(std::move(batch)),
      sizes_(std::move(sizes)),
      numbered_(numbered == Numbered::kYes),
      drop_remainder_(arguments.attributes.Find("drop_remainder") != nullptr &&
                      arguments.attributes.Bool("drop_remainder")),
      mark_padding_(arguments.attributes.Bool("mark_padding")),
      keeps_runs_(arguments.run_length > 1),
      runs_(runs) {}

absl::Status BatchOperator::CheckCounters(absl::Span<const uint64_t> counters) const {
  constexpr uint64_t kMostBatches = uint64_t{1} << 62;
  if (numbered_ && counters[0] > kMostBatches) return CounterError("gave ", counters[0], " batches");
  return CheckRowsOfMessage(counters.back());
}

void BatchOperator::Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) {
  epoch_ = epoch;
  before_ = inputs;
  // Counted again as rows are skipped.
  used_ = 0;
  skip_ = counters.back();
  number_ = numbered_ ? counters[0] : 0;
  // A batch was given before, unless this is an epoch's start.
  const auto counts = [](uint64_t counter) { return counter > 0; };
  message_.reset();
  had_rows_ = skip_ > 0 || number_ > 0 || std::any_of(inputs.begin(), inputs.end(), counts);
}

void BatchOperator::Receive(int /*input*/, Message message, Outbox& out) {
  if (message->epoch < epoch_) return;
  epoch_ = message->epoch;
  StartRange();
  // What precedes a row of before a restart was passed on before.
  if (message->removed != nullptr && skip_ == 0) PassOnRemoved(*message, out);
  if (message->tombstone()) {
    Replace(*message, out);
    return EndMessage(*message, out);
  }
  had_rows_ |= message->rows() > 0;
  row_ = static_cast<int>(std::min<uint64_t>(skip_, static_cast<uint64_t>(message->rows())));
  skip_ -= static_cast<uint64_t>(row_);
  used_ += static_cast<uint64_t>(row_);
  message_ = std::move(message);
  Continue(out);
}

void BatchOperator::StartRange() {
  if (in_range_ || run_ == nullptr || run_->ranges == nullptr) return;
  in_range_ = true;
  const BatchRange range = run_->ranges->At(epoch_);
  number_ = range.first;
  before_[0] = range.first * static_cast<uint64_t>(size_);
}

void BatchOperator::Continue(Outbox& out) {
  if (!Advance(out)) return;
  const Message message = std::move(message_);
  EndMessage(*message, out);
}

void BatchOperator::EndMessage(Block& message, Outbox& out) {
  if (message.end == End::kEpoch) EndEpoch(message.epoch, out);
  if (message.end != End::kError) return;
  Clear();
  failed_ = true;
  out.Give(MakeErrorMessage(message.epoch, CheckpointNow(), std::move(message.error)));
}

void BatchOperator::Finish(uint64_t epoch) {
  if (epoch_ > epoch) return;
  Clear();
  if (message_ == nullptr) return;
  message_->Drop();
  row_ = 0;
}

bool BatchOperator::Advance(Outbox& out) {
  Block& block = *message_;
  const int rows = block.rows();
  while (row_ < rows) {
    if (!TakesRows(out)) return true;
    const int count = std::min(rows - row_, size_ - batch_->rows() - lost_);
    used_ += static_cast<uint64_t>(count);
    row_ += count;
    // Advances the checkpoint once the whole message is used, as checkpoints count whole messages.
    if (row_ == rows && block.end == End::kNone) MoveCheckpoint(block);
    batch_->Add(block, row_ - count, count);
    if (GiveFull(out) && numbered_ && row_ < rows) return false;
  }
  if (block.end == End::kNone || block.end == End::kEpoch) MoveCheckpoint(block);
  EndRun(out);
  return true;
}

// The next row takes the slot of the one that failed. If ranks must step alike, a row of the batch does; over rows
// that stay together none does.
void BatchOperator::Replace(Block& tombstone, Outbox& out) {
  ++used_;
  MoveCheckpoint(tombstone);
  if (skip_ > 0) {
    --skip_;
    return;
  }
  if (!had_rows_ || mark_padding_) last_failed_ = SeparateCopy(tombstone.error);
  tombstone.MarkRemoved();
  PassOnRemoved(tombstone, out);
  if (!mark_padding_ && !keeps_runs_) return;
  if (!TakesRows(out)) return;
  if (mark_padding_) {
    batch_->AddFiller();
  } else {
    ++lost_;
  }
  GiveFull(out);
  EndRun(out);
}

// Over uneven runs the source counts positions, and whole batches of them: where such a batch ends, so does this one,
// however many of its positions hold rows.
void BatchOperator::EndRun(Outbox& out) {
  const bool begun = batch_->rows() + lost_ > 0;
  if (runs_ == Runs::kFull || !begun || failed_ || used_ > 0 || before_[0] % static_cast<uint64_t>(size_) != 0) return;
  lost_ = size_ - batch_->rows();
  GiveFull(out);
}

// Has the size of a batch chosen when its first row comes. False: nothing more of this epoch is delivered, because of
// an error before, or because that failed.
bool BatchOperator::TakesRows(Outbox& out) {
  if (failed_) return false;
  if (size_ > 0) return true;
  const absl::StatusOr<int> size = sizes_->SizeOf(batch_number());
  if (!size.ok()) {
    GiveError(size.status(), out);
    return false;
  }
  size_ = *size;
  batch_->SetSize(size_);
  return true;
}

bool BatchOperator::GiveFull(Outbox& out) {
  if (batch_->rows() + lost_ < size_) return false;
  const bool given = lost_ == 0 || (batch_->rows() > 0 && !drop_remainder_);
  if (given) {
    GiveBatch(out);
  } else {
    batch_->Clear();
  }
  lost_ = 0;
  return given;
}

// Ahead of the batch, so that nothing is collected where rows fail on and on.
void BatchOperator::PassOnRemoved(Block& block, Outbox& out) const {
  auto note = std::make_unique<Block>();
  note->epoch = epoch_;
  note->checkpoint = CheckpointNow();
  // Rows of the batch are not in that checkpoint.
  note->continues = true;
  note->TakeRemovedOf(block);
  out.Give(std::move(note));
}

void BatchOperator::MoveCheckpoint(const Block& block) {
  if (block.continues) return;
  before_ = block.checkpoint;
  used_ = 0;
}

Checkpoint BatchOperator::CheckpointNow() const {
  Checkpoint checkpoint = before_;
  if (numbered_) checkpoint.push_back(number_);
  checkpoint.push_back(used_);
  return checkpoint;
}

void BatchOperator::GiveBatch(Outbox& out) {
  if (batch_->fillers_alone())
    return GiveError(NothingLeftError(Cat("a batch of ", batch_->rows()), last_failed_), out);
  const RowId id = batch_->first_id();
  const int rows = batch_->rows();
  absl::StatusOr<Message> message = batch_->Take(batch_number(), mark_padding_);
  if (message.ok()) {
    EndBatch();
    (*message)->checkpoint = CheckpointNow();
    out.Give(*std::move(message));
    return;
  }
  absl::Status error = std::move(message).status();
  const std::string which = numbered_ ? Cat("batch ", number_, ", of ", rows, " rows, which begins with ")
                                      : Cat("the batch of ", size_, " that begins with ");
  AddErrorField(error, ErrorField::kRow, Cat(which, DescribeRowId(id)));
  GiveError(std::move(error), out);
}

void BatchOperator::GiveError(absl::Status error, Outbox& out) {
  out.Give(MakeErrorMessage(epoch_, CheckpointNow(), std::move(error)));
  batch_->Clear();
  failed_ = true;
}

void BatchOperator::EndEpoch(uint64_t epoch, Outbox& out) {
  if (batch_->rows() > 0 && !drop_remainder_ && !failed_) GiveBatch(out);
  if (!had_rows_ && !last_failed_.ok() && !failed_) GiveError(NothingLeftError("this epoch", last_failed_), out);
  Clear();
  failed_ = had_rows_ = false;
  last_failed_ = absl::OkStatus();
  out.Give(MakeEndOfEpoch(epoch, CheckpointNow()));
  epoch_ = epoch + 1;
  in_range_ = false;
  number_ = 0;
  before_.assign(before_.size(), 0);
  used_ = 0;
}

// The next batch has another number, and perhaps another size.
void BatchOperator::EndBatch() {
  ++number_;
  if (sizes_ != nullptr) size_ = 0;
}

void BatchOperator::Clear() {
  batch_->Clear();
  lost_ = 0;
  if (sizes_ != nullptr) size_ = 0;
}

Cardinality BatchesOf(const Cardinality& rows, int64_t size, bool drop_remainder) {
  if (!rows.known()) return rows;
  const auto whole = static_cast<uint64_t>(size);
  return Cardinality::Of((rows.rows + (drop_remainder ? 0 : whole - 1)) / whole);
}

int64_t KnownBatchRows(int64_t size, bool drop_remainder) { return drop_remainder ? size : ir::kUnknownDim; }

void AddPaddingMarks(int64_t rows, ir::Schema& schema) {
  schema.columns.push_back({std::string(ir::kPaddingColumn), ir::ColumnType::Of(DType::kBool, {rows})});
}

std::vector<ir::Attribute> BatchAttributes(std::vector<ir::Attribute> attributes) {
  attributes.push_back({.name = "drop_remainder",
                        .type = ir::AttributeType::kBool,
                        .doc = "Leave out batches that are smaller.",
                        .default_value = "False"});
  AddJoiningAttributes(attributes);
  attributes.push_back(MarkPaddingAttribute());
  return attributes;
}

ir::Attribute MarkPaddingAttribute() {
  return {.name = "mark_padding",
          .type = ir::AttributeType::kBool,
          .doc =
              "Add the bool column `_pad`: rows that repeat others so that ranks step alike; set by "
              "iterate(even=\"pad\").",
          .default_value = "False",
          .hidden = true};
}

}  // namespace headrace
