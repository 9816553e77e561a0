#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "engine/operator/operator.h"
#include "ir/mark_padding.h"
#include "ops/row_batch.h"
#include "ops/separate_copy.h"

namespace headrace {
namespace {

class BatchOperator : public StreamOperator {
 public:
  explicit BatchOperator(const OpArguments& arguments)
      : size_(static_cast<int>(arguments.attributes.Int("size"))),
        drop_remainder_(arguments.attributes.Bool("drop_remainder")),
        mark_padding_(arguments.attributes.Bool("mark_padding")),
        keeps_runs_(arguments.run_length > 1),
        batch_(size_, arguments.inputs[0].Names(), PaddingOf(arguments)) {}

  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override {
    return CheckRowsOfMessage(counters[0]);
  }

  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) override {
    epoch_ = epoch;
    before_ = inputs;
    // Counted again as rows are skipped.
    used_ = 0;
    skip_ = counters[0];
    // A batch was given before, unless this is an epoch's start.
    const auto counts = [](uint64_t counter) { return counter > 0; };
    had_rows_ = skip_ > 0 || std::any_of(inputs.begin(), inputs.end(), counts);
  }

  void Receive(int /*input*/, Message message, Outbox& out) override {
    if (message->epoch < epoch_) return;
    epoch_ = message->epoch;
    // What precedes a row of before a restart was passed on before.
    if (message->removed != nullptr && skip_ == 0) PassOnRemoved(*message, out);
    if (message->tombstone()) {
      Replace(*message, out);
    } else {
      Advance(*message, out);
    }
    if (message->end == End::kEpoch) EndEpoch(message->epoch, out);
    if (message->end == End::kError) {
      Clear();
      failed_ = true;
      out.Give(MakeErrorMessage(message->epoch, CheckpointNow(), std::move(message->error)));
    }
  }

  void Finish(uint64_t epoch) override {
    if (epoch_ <= epoch) Clear();
  }
  size_t held_bytes() const override { return batch_.held_bytes(); }
  std::optional<int64_t> expected_bytes() const override { return batch_.expected_bytes(); }

 private:
  static std::optional<ir::Number> PaddingOf(const OpArguments& arguments) {
    if (!arguments.attributes.Bool("pad")) return std::nullopt;
    return arguments.attributes.Number("pad_value");
  }

  void Advance(Block& block, Outbox& out) {
    const int rows = block.rows();
    had_rows_ |= rows > 0;
    auto row = static_cast<int>(std::min<uint64_t>(skip_, static_cast<uint64_t>(rows)));
    skip_ -= static_cast<uint64_t>(row);
    used_ += static_cast<uint64_t>(row);
    while (row < rows) {
      const int count = std::min(rows - row, size_ - batch_.rows() - lost_);
      used_ += static_cast<uint64_t>(count);
      row += count;
      // Advances the checkpoint once the whole message is used, as checkpoints count whole messages.
      if (row == rows && block.end == End::kNone) MoveCheckpoint(block);
      batch_.Add(block, row - count, count);
      GiveFull(out);
    }
    if (block.end == End::kNone || block.end == End::kEpoch) MoveCheckpoint(block);
  }

  // The next row takes the place of the one that failed. If ranks must step alike, a row of the batch does; over rows
  // that stay together none does.
  void Replace(Block& tombstone, Outbox& out) {
    ++used_;
    MoveCheckpoint(tombstone);
    if (skip_ > 0) {
      --skip_;
      return;
    }
    if (!had_rows_ || mark_padding_) last_failed_ = SeparateCopy(tombstone.error);
    tombstone.Bury();
    PassOnRemoved(tombstone, out);
    if (mark_padding_) {
      batch_.AddFiller();
    } else if (keeps_runs_) {
      ++lost_;
    }
    GiveFull(out);
  }

  void GiveFull(Outbox& out) {
    if (batch_.rows() + lost_ < size_) return;
    const bool given = lost_ == 0 || (batch_.rows() > 0 && !drop_remainder_);
    if (given) {
      GiveBatch(out);
    } else {
      batch_.Clear();
    }
    lost_ = 0;
  }

  // Ahead of the batch, so that nothing is collected where rows fail on and on.
  void PassOnRemoved(Block& block, Outbox& out) const {
    auto note = std::make_unique<Block>();
    note->epoch = epoch_;
    note->checkpoint = CheckpointNow();
    // Rows of the batch are not in that checkpoint.
    note->continues = true;
    note->TakeRemovedOf(block);
    out.Give(std::move(note));
  }

  void MoveCheckpoint(const Block& block) {
    if (block.continues) return;
    before_ = block.checkpoint;
    used_ = 0;
  }

  Checkpoint CheckpointNow() const {
    Checkpoint checkpoint = before_;
    checkpoint.push_back(used_);
    return checkpoint;
  }

  void GiveBatch(Outbox& out) {
    if (batch_.fillers_alone())
      return GiveError(NothingLeftError(Cat("a batch of ", batch_.rows()), last_failed_), out);
    const RowId id = batch_.first_id();
    absl::StatusOr<Message> message = batch_.Take(epoch_, mark_padding_);
    if (message.ok()) {
      (*message)->checkpoint = CheckpointNow();
      out.Give(*std::move(message));
      return;
    }
    absl::Status error = std::move(message).status();
    AddErrorField(error, ErrorField::kRow, Cat("the batch of ", size_, " that begins with ", DescribeRowId(id)));
    GiveError(std::move(error), out);
  }

  void GiveError(absl::Status error, Outbox& out) {
    out.Give(MakeErrorMessage(epoch_, CheckpointNow(), std::move(error)));
    batch_.Clear();
    failed_ = true;
  }

  void EndEpoch(uint64_t epoch, Outbox& out) {
    if (batch_.rows() > 0 && !drop_remainder_ && !failed_) GiveBatch(out);
    if (!had_rows_ && !last_failed_.ok() && !failed_) GiveError(NothingLeftError("this epoch", last_failed_), out);
    Clear();
    failed_ = had_rows_ = false;
    last_failed_ = absl::OkStatus();
    out.Give(MakeEndOfEpoch(epoch, CheckpointNow()));
    epoch_ = epoch + 1;
    before_.assign(before_.size(), 0);
    used_ = 0;
  }

  void Clear() {
    batch_.Clear();
    lost_ = 0;
  }

  const int size_;
  const bool drop_remainder_;
  const bool mark_padding_;
  const bool keeps_runs_;  // a row takes no place in the batch of another run
  int lost_ = 0;           // places of the batch whose rows failed
  RowBatch batch_;
  Checkpoint before_;  // after the message before the current one
  uint64_t used_ = 0;  // rows used of the current message
  uint64_t skip_ = 0;  // rows used before a restart
  uint64_t epoch_ = 0;
  bool failed_ = false;
  bool had_rows_ = false;  // that did not fail, in this epoch
  absl::Status last_failed_;
};

absl::StatusOr<ir::Schema> Infer(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  ir::Schema schema = inputs[0];
  const bool whole = attributes.Bool("drop_remainder");
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    std::optional<Shape>& shape = schema.columns.type(i).shape;
    if (shape.has_value()) shape->insert(shape->begin(), whole ? attributes.Int("size") : ir::kUnknownDim);
  }
  if (attributes.Bool("mark_padding")) {
    schema.columns.push_back(
        {std::string(ir::kPaddingColumn), ir::ColumnType::Of(DType::kBool, {whole ? attributes.Int("size") : -1})});
  }
  return schema;
}

Cardinality Batches(const OpArguments& arguments, absl::Span<const Cardinality> inputs) {
  if (!inputs[0].known()) return inputs[0];
  const uint64_t size = static_cast<uint64_t>(arguments.attributes.Int("size"));
  const uint64_t rounding = arguments.attributes.Bool("drop_remainder") ? 0 : size - 1;
  return Cardinality::Of((inputs[0].rows + rounding) / size);
}

const OpRegistration registration(
    {
        .name = "batch",
        .role = ir::Role::kStream,
        .summary = "Joins every `size` rows into one, along a new first axis.",
        .doc = "Rows of a column must agree in dtype and shape, else it is an error that names both, unless `pad` is "
               "set. Byte strings and strings become object arrays. The batch has the identity of its first row. The "
               "epoch's last batch may be smaller, unless `drop_remainder` is set, and so may, over groups that stay "
               "together, a batch in which rows are skipped.",
        .attributes = {{.name = "size", .doc = "Rows in a batch.", .minimum = 1, .maximum = 1 << 30},
                       {.name = "drop_remainder",
                        .type = ir::AttributeType::kBool,
                        .doc = "Leave out batches that are smaller.",
                        .default_value = "False"},
                       {.name = "pad",
                        .type = ir::AttributeType::kBool,
                        .doc = "Pad rows at the end of each axis to the largest in the batch.",
                        .default_value = "False"},
                       {.name = "pad_value",
                        .type = ir::AttributeType::kFloat,
                        .doc = "What padding is filled with.",
                        .default_value = "0.0",
                        .keeps_whole = true},
                       {.name = "mark_padding",
                        .type = ir::AttributeType::kBool,
                        .doc = "Add the bool column `_pad`: rows that repeat others so that ranks step alike; set by "
                               "iterate(even=\"pad\").",
                        .default_value = "False",
                        .hidden = true}},
        .traits = {.joins_rows = true},
        .python_module = "dataset",
        .example = "ds.batch(32, drop_remainder=True)",
        .infer = Infer,
        .reads = ir::PassesColumns(),
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       return std::make_unique<BatchOperator>(arguments);
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           // Rows used of the message after the checkpoint.
           properties.checkpoint_counters = 1;
           properties.batch_rows = arguments.attributes.Int("size");
           properties.takes_batch_slots = !arguments.attributes.Bool("pad");
         },
     .cardinality = Batches});

}  // namespace
}  // namespace headrace
