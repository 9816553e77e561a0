#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "engine/operator/operator.h"
#include "engine/operator/positions.h"
#include "ops/rows/read_inputs.h"
#include "ops/rows/same_columns.h"

namespace headrace {
namespace {

// Has no counters of its own: inputs that are done with an epoch resume at its end and send its end-of-epoch marker
// again.
class ConcatOperator : public StreamOperator {
 public:
  explicit ConcatOperator(ColumnIndices indices)
      : column_indices_(std::move(indices)),
        widths_(column_indices_.size(), 0),
        next_epoch_(column_indices_.size(), 0) {}

  void Start(uint64_t epoch, absl::Span<const uint64_t> /*counters*/, const Checkpoint& inputs) override {
    epoch_ = epoch;
    next_epoch_.assign(next_epoch_.size(), epoch);
    checkpoint_ = inputs;
  }

  int wants() const override { return current_; }
  std::optional<int64_t> expected_bytes() const override { return 0; }

  void Receive(int input, Message message, Outbox& out) override {
    const size_t from = static_cast<size_t>(input);
    NoteCheckpoint(from, *message);
    const End end = message->end;
    const uint64_t ended = message->epoch;
    if (end == End::kEpoch) message->end = End::kNone;
    if (message->epoch >= epoch_ && !message->idle()) {
      for (RowId& id : message->ids) id.key = MixKey(id.key, from);
      Reorder(column_indices_[from], message->columns);
      message->checkpoint = checkpoint_;
      out.Give(std::move(message));
    }
    if (end != End::kEpoch) return;
    next_epoch_[from] = std::max(next_epoch_[from], ended + 1);
    Advance(out);
  }

 private:
  // The checkpoint is the concatenation of those of all inputs; the number of counters of each is known from its
  // messages.
  void NoteCheckpoint(size_t input, const Block& block) {
    if (block.end == End::kError) return;
    widths_[input] = block.checkpoint.size();
    if (block.continues) return;
    const auto at = std::accumulate(widths_.begin(), widths_.begin() + static_cast<std::ptrdiff_t>(input), size_t{0});
    std::copy(block.checkpoint.begin(), block.checkpoint.end(), checkpoint_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void Advance(Outbox& out) {
    const auto unfinished = [this](uint64_t next) { return next <= epoch_; };
    const auto waiting = std::find_if(next_epoch_.begin(), next_epoch_.end(), unfinished);
    if (waiting == next_epoch_.end()) {
      epoch_ = *std::min_element(next_epoch_.begin(), next_epoch_.end());
      out.Give(MakeEndOfEpoch(epoch_ - 1, checkpoint_));
      checkpoint_.assign(checkpoint_.size(), 0);
      current_ = static_cast<int>(std::find(next_epoch_.begin(), next_epoch_.end(), epoch_) - next_epoch_.begin());
      return;
    }
    current_ = static_cast<int>(waiting - next_epoch_.begin());
  }

  const ColumnIndices column_indices_;
  std::vector<size_t> widths_;        // counters of each input's checkpoint
  std::vector<uint64_t> next_epoch_;  // of each input: epochs below are over
  Checkpoint checkpoint_;
  uint64_t epoch_ = 0;
  int current_ = 0;
};

class ConcatenatedSource : public IndexedSource {
 public:
  // The positions of all inputs together must fit in 64 bits.
  static absl::Status Check(const IndexedSources& inputs) {
    uint64_t size = 0;
    for (const auto& input : inputs) {
      if (__builtin_add_overflow(size, input->size(), &size)) return TooManyRows();
      const IndexedProperties properties = input->properties();
      if (properties.uneven_runs) {
        return GraphError(
            "joins an input whose rows stay together in batches of several sizes; concat after the batch");
      }
      const uint64_t length = properties.run_length;
      const uint64_t first = inputs[0]->properties().run_length;
      if (length == first) continue;
      const uint64_t fewer = std::min(length, first);
      return GraphError("joins an input whose rows stay together in groups of ", std::max(length, first), " with one ",
                        fewer == 1 ? std::string("that has no groups") : Cat("of groups of ", fewer),
                        "; concat after batch, or give both groups of one size");
    }
    return absl::OkStatus();
  }

  ConcatenatedSource(IndexedSources inputs, ColumnIndices indices)
      : inputs_(std::move(inputs)), column_indices_(std::move(indices)), ends_(inputs_.size()) {
    uint64_t end = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) ends_[i] = end += inputs_[i]->size();
  }

  uint64_t size() const override { return ends_.back(); }

  IndexedProperties properties() const override {
    IndexedProperties all = PropertiesTogether(inputs_);
    all.run_length = inputs_[0]->properties().run_length;
    return all;
  }

  absl::StatusOr<BegunEpoch> Begin(uint64_t epoch) override {
    BegunEpoch begun;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      HEADRACE_ASSIGN_OR_RETURN(const BegunEpoch each, inputs_[i]->Begin(epoch));
      if (__builtin_add_overflow(begun.rows, each.rows, &begun.rows)) return TooManyRows();
      ends_[i] = begun.rows;
      if (each.chosen != 0) begun.chosen = MixKey(MixKey(begun.chosen, i), each.chosen);
    }
    return begun;
  }

  uint64_t numbers() const override { return numbers_.count(); }
  void FindNumbers(uint64_t epoch, absl::Span<uint64_t> positions) const override {
    std::vector<RowOfInput> rows;
    for (const uint64_t position : positions) {
      const size_t input = InputAt(position);
      rows.push_back({input, {epoch, position - StartOf(input)}});
    }
    numbers_.Find(rows, positions);
  }

  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    const size_t input = InputAt(wanted.position);
    Block row;
    HEADRACE_RETURN_IF_ERROR(
        inputs_[input]->Read({wanted.epoch, wanted.position - StartOf(input), wanted.occurrence_key}, row));
    Reorder(column_indices_[input], row.columns);
    row.ids[0].key = MixKey(row.ids[0].key, input);
    AppendReadRow(row, block);
    return absl::OkStatus();
  }

  // In one call of each input that has any of them.
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    const size_t first = InputAt(wanted.positions[0]);
    const uint64_t start = StartOf(first);
    const uint64_t size = ends_[first] - start;
    Positions of_first(wanted.positions.begin(), wanted.positions.end());
    bool all = true;
    for (uint64_t& position : of_first) {
      position -= start;
      all &= position < size;  // also for those before it, which wrap around
    }
    if (all) return ReadRowsOf(first, {wanted.epoch, of_first, wanted.occurrence_keys}, block);
    std::vector<RowOfInput> of_inputs;
    for (size_t i = 0; i < wanted.positions.size(); ++i) {
      const uint64_t position = wanted.positions[i];
      const size_t input = InputAt(position);
      of_inputs.push_back({input, {wanted.epoch, position - StartOf(input), wanted.occurrence_key(i)}});
    }
    const auto read = [this](size_t input, const RowPositions& of_input, Block& rows) {
      return ReadRowsOf(input, of_input, rows);
    };
    return ReadRowsOfInputs(of_inputs, read, block);
  }

  absl::Status CheckUnchanged() const override { return CheckInputsUnchanged(inputs_); }

  void StartRows(const RowPositions& wanted) const override {
    std::vector<RowOfInput> rows;
    for (const uint64_t position : wanted.positions) {
      const size_t input = InputAt(position);
      rows.push_back({input, {wanted.epoch, position - StartOf(input)}});
    }
    StartRowsOfInputs(inputs_, rows);
  }

  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    const size_t input = InputAt(position);
    inputs_[input]->Identify(epoch, position - StartOf(input), id, provenance);
    id.key = MixKey(id.key, input);
  }

  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    for (const auto& input : inputs_) input->AddFingerprints(fingerprints);
  }
  void AddNoteFiles(std::vector<std::string>& paths) const override {
    for (const auto& input : inputs_) input->AddNoteFiles(paths);
  }

 private:
  static absl::Status TooManyRows() {
    return UnsupportedError("the inputs have more rows together than numbers of 64 bits can count");
  }

  absl::Status ReadRowsOf(size_t input, const RowPositions& wanted, Block& block) const {
    absl::Status status = inputs_[input]->ReadRows(wanted, block);
    Reorder(column_indices_[input], block.columns);
    for (RowId& id : block.ids) id.key = MixKey(id.key, input);
    return status;
  }

  size_t InputAt(uint64_t position) const {
    return static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), position) - ends_.begin());
  }
  uint64_t StartOf(size_t input) const { return input == 0 ? 0 : ends_[input - 1]; }

  const IndexedSources inputs_;
  const NumbersOfInputs numbers_{inputs_};
  const ColumnIndices column_indices_;
  std::vector<uint64_t> ends_;  // the end of each input's positions
};

const OpRegistration concat_registration(
    {
        .name = "concat",
        .role = ir::Role::kStream,
        .summary = "Gives the rows of several data sets, one after the other.",
        .doc = "The inputs must have the same columns, of the same dtypes; where shapes differ, that dimension is "
               "unknown afterwards. Columns have the order of the first input. A row's key is its own mixed with the "
               "number of its input. Over sources with random access it has random access, too.",
        .min_inputs = 2,
        .max_inputs = -1,
        .traits = {.indexed = true},
        .python_module = "dataset",
        .example = "ds.concat(other)",
        .infer = InferSameColumns,
        .reads = ReadsSameColumns,
        .most_rows = MostRowsTogether,
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       return std::make_unique<ConcatOperator>(ColumnIndicesOf(arguments));
     },
     .indexed = [](const OpArguments& arguments,
                   IndexedSources inputs) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
       HEADRACE_RETURN_IF_ERROR(ConcatenatedSource::Check(inputs));
       return std::make_unique<ConcatenatedSource>(std::move(inputs), ColumnIndicesOf(arguments));
     },
     .cardinality = RowsTogether});

}  // namespace
}  // namespace headrace
