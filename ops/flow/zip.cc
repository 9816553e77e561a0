#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "ops/rows/held_input.h"
#include "ops/rows/read_inputs.h"
#include "ops/rows/separate_copy.h"

namespace headrace {
namespace {

void AppendRows(BlockColumn& target, BlockColumn& source, int from, int rows) {
  if (target.rows() == 0 && source.stacked()) {
    target = source.TakeRows(from, rows);
    return;
  }
  for (int row = from; row < from + rows; ++row) target.Append(source.TakeRow(row));
}

// Row i of the result is row i of every input. An end at row i takes precedence over an error there, because that row
// is unused.
class ZipOperator : public StreamOperator {
 public:
  explicit ZipOperator(size_t inputs) : inputs_(inputs) {}

  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override {
    for (const uint64_t used : counters) HEADRACE_RETURN_IF_ERROR(CheckRowsOfMessage(used));
    return absl::OkStatus();
  }

  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) override {
    epoch_ = epoch;
    start_ = inputs;
    for (size_t i = 0; i < inputs_.size(); ++i) inputs_[i].Start(counters[i]);
  }

  int wants() const override {
    const auto empty = [](const HeldInput& input) { return input.empty(); };
    const auto found = std::find_if(inputs_.begin(), inputs_.end(), empty);
    return found == inputs_.end() ? 0 : static_cast<int>(found - inputs_.begin());
  }

  void Receive(int input, Message message, Outbox& out) override {
    if (message->epoch < epoch_) return;
    inputs_[static_cast<size_t>(input)].Hold(std::move(message));
    while (Step(out)) {
    }
  }

  void Finish(uint64_t epoch) override {
    for (HeldInput& input : inputs_) input.DropRows(epoch);
  }

  // The rows it holds are parts of the next row, which passes however large it is.
  std::optional<int64_t> expected_bytes() const override { return 0; }

 private:
  bool Step(Outbox& out) {
    for (const HeldInput& input : inputs_) {
      if (!input.at_end()) continue;
      EndEpoch(input.block().epoch, out);
      return true;
    }
    int rows = std::numeric_limits<int>::max();
    for (const HeldInput& input : inputs_) {
      if (input.empty()) return false;
      rows = std::min(rows, input.rows());
    }
    if (rows == 0) {
      GiveError(out);
    } else if (const Block* const failed = FailedFront()) {
      GiveTombstone(*failed, out);
    } else {
      GiveRows(rows, out);
    }
    return true;
  }

  // Null if no input has a tombstone next.
  const Block* FailedFront() const {
    const auto failed = [](const HeldInput& input) { return input.block().tombstone(); };
    const auto found = std::find_if(inputs_.begin(), inputs_.end(), failed);
    return found == inputs_.end() ? nullptr : &found->block();
  }

  // One row that failed leaves the whole row out.
  void GiveTombstone(const Block& failed, Outbox& out) {
    auto zipped = std::make_unique<Block>();
    zipped->epoch = inputs_[0].block().epoch;
    NameRow(0, *zipped);
    zipped->provenances.Set(0, failed.provenances[0]);
    zipped->error = SeparateCopy(failed.error);
    for (HeldInput& input : inputs_) input.UseRows(1);
    zipped->checkpoint = CheckpointNow();
    out.Give(std::move(zipped));
  }

  void GiveRows(int rows, Outbox& out) {
    auto zipped = std::make_unique<Block>();
    zipped->epoch = inputs_[0].block().epoch;
    for (int row = 0; row < rows; ++row) NameRow(row, *zipped);
    for (HeldInput& input : inputs_) {
      for (BlockColumn& column : input.block().columns) {
        zipped->columns.emplace_back();
        AppendRows(zipped->columns.back(), column, input.row(), rows);
      }
      input.UseRows(rows);
    }
    zipped->checkpoint = CheckpointNow();
    out.Give(std::move(zipped));
  }

  void NameRow(int row, Block& zipped) const {
    RowId id;
    Provenance provenance;
    for (const HeldInput& input : inputs_) {
      const RowId& other = input.block().ids[input.row() + row];
      const bool first = &input == inputs_.data();
      id = first ? other : JoinIds(id, other);
      if (provenance.file == nullptr) provenance = input.block().provenances[input.row() + row];
    }
    zipped.ids.push_back(id);
    zipped.provenances.push_back(provenance);
  }

  void GiveError(Outbox& out) {
    absl::Status error;
    for (HeldInput& input : inputs_) {
      if (!input.at_error()) {
        input.UseRows(1);
        continue;
      }
      absl::Status other = input.TakeError();
      if (error.ok()) error = std::move(other);
    }
    out.Give(MakeErrorMessage(epoch_, CheckpointNow(), std::move(error)));
  }

  void EndEpoch(uint64_t epoch, Outbox& out) {
    out.Give(MakeEndOfEpoch(epoch, CheckpointNow()));
    start_.assign(start_.size(), 0);
    epoch_ = epoch + 1;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].StartNext(epoch)) out.FinishEpoch(static_cast<int>(i), epoch);
    }
  }

  // The width of each input's checkpoint is known once it has sent a message; until all have, nothing was used.
  Checkpoint CheckpointNow() const {
    Checkpoint checkpoint;
    const auto known = [](const HeldInput& input) { return input.width().has_value(); };
    if (std::all_of(inputs_.begin(), inputs_.end(), known)) {
      auto start = start_.begin();
      for (const HeldInput& input : inputs_) {
        input.AppendCheckpoint(start, checkpoint);
        start += static_cast<std::ptrdiff_t>(*input.width());
      }
    } else {
      checkpoint = start_;
    }
    for (const HeldInput& input : inputs_) checkpoint.push_back(input.used());
    return checkpoint;
  }

  std::vector<HeldInput> inputs_;
  Checkpoint start_;  // the checkpoints of all inputs, concatenated
  uint64_t epoch_ = 0;
};

class ZippedSource : public IndexedSource {
 public:
  static absl::Status Check(const IndexedSources& inputs) {
    for (const auto& input : inputs) {
      const uint64_t length = input->properties().run_length;
      if (length == 1) continue;
      return GraphError("has an input whose rows stay together in groups of ", length,
                        ", but the rows beside them do not; zip after batch, or put the sampler above zip");
    }
    return absl::OkStatus();
  }

  explicit ZippedSource(IndexedSources inputs) : inputs_(std::move(inputs)) {}

  uint64_t size() const override {
    uint64_t size = kMostRows;
    for (const auto& input : inputs_) size = std::min(size, input->size());
    return size;
  }

  // Keys are its own.
  IndexedProperties properties() const override {
    IndexedProperties all = PropertiesTogether(inputs_);
    all.recurring_orders = 0;
    return all;
  }

  absl::StatusOr<BegunEpoch> Begin(uint64_t epoch) override {
    BegunEpoch begun{kMostRows, 0};
    for (const auto& input : inputs_) {
      HEADRACE_ASSIGN_OR_RETURN(const BegunEpoch each, input->Begin(epoch));
      begun.rows = std::min(begun.rows, each.rows);
      if (each.chosen != 0) begun.chosen = MixKey(begun.chosen, each.chosen);
    }
    return begun;
  }

  uint64_t numbers() const override { return inputs_[0]->numbers(); }
  void FindNumbers(uint64_t epoch, absl::Span<uint64_t> positions) const override {
    inputs_[0]->FindNumbers(epoch, positions);
  }

  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    Block zipped;
    for (const auto& input : inputs_) {
      Block row;
      HEADRACE_RETURN_IF_ERROR(input->Read(wanted, row));
      JoinRows(row, zipped);
    }
    block.ids.push_back(zipped.ids[0]);
    block.provenances.Append(zipped.provenances, 0);
    if (block.columns.empty()) block.columns.resize(zipped.columns.size());
    for (size_t i = 0; i < zipped.columns.size(); ++i) AppendRows(block.columns[i], zipped.columns[i], 0, 1);
    return absl::OkStatus();
  }

  // As many as every input has; of the inputs that fail at the same row, the first one's error counts.
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    absl::Status failed;
    absl::Span<const uint64_t> positions = wanted.positions;
    for (const auto& input : inputs_) {
      if (positions.empty()) break;
      Block rows;
      absl::Status status = input->ReadRows({wanted.epoch, positions, wanted.occurrence_keys}, rows);
      if (!status.ok()) {
        positions = positions.first(static_cast<size_t>(rows.rows()));
        failed = std::move(status);
      }
      rows.Truncate(static_cast<int>(positions.size()));
      block.Truncate(static_cast<int>(positions.size()));
      JoinRows(rows, block);
    }
    return failed;
  }

  absl::Status CheckUnchanged() const override { return CheckInputsUnchanged(inputs_); }

  void StartRows(const RowPositions& wanted) const override {
    for (const auto& input : inputs_) input->StartRows(wanted);
  }

  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    inputs_[0]->Identify(epoch, position, id, provenance);
    for (size_t i = 1; i < inputs_.size(); ++i) {
      RowId other;
      Provenance other_provenance;
      inputs_[i]->Identify(epoch, position, other, other_provenance);
      id.key = MixKey(id.key, other.key);
      if (provenance.file == nullptr) provenance = std::move(other_provenance);
    }
  }

  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    for (const auto& input : inputs_) input->AddFingerprints(fingerprints);
  }
  void AddNoteFiles(std::vector<std::string>& paths) const override {
    for (const auto& input : inputs_) input->AddNoteFiles(paths);
  }

 private:
  // Puts the columns of the next input beside those joined so far, which have as many rows.
  static void JoinRows(Block& rows, Block& joined) {
    if (joined.columns.empty()) {
      joined.ids = std::move(rows.ids);
      joined.provenances = std::move(rows.provenances);
    } else {
      for (size_t i = 0; i < rows.ids.size(); ++i) {
        joined.ids[i] = JoinIds(joined.ids[i], rows.ids[i]);
        if (!joined.provenances.has_file(i)) joined.provenances.Set(i, rows.provenances[i]);
      }
    }
    for (BlockColumn& column : rows.columns) joined.columns.push_back(std::move(column));
  }

  static constexpr uint64_t kMostRows = std::numeric_limits<uint64_t>::max();

  const IndexedSources inputs_;
};

absl::StatusOr<ir::Schema> InferZip(const ir::Attributes& /*attributes*/, absl::Span<const ir::Schema> inputs) {
  ir::Schema schema;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (const ir::Column& column : inputs[i].columns) {
      if (schema.Find(column.name) != nullptr) {
        return GraphError("two inputs have a column \"", column.name,
                          "\"; rename one of them first, such as rename({\"", column.name, "\": \"", column.name, i,
                          "\"})");
      }
      schema.columns.push_back(column);
    }
  }
  return schema;
}

Cardinality Shortest(const OpArguments& /*arguments*/, absl::Span<const Cardinality> inputs) {
  Cardinality shortest = Cardinality::Endless();
  for (const Cardinality& input : inputs) {
    if (input.kind == Cardinality::Kind::kUnknown) return input;
    if (input.known() && (!shortest.known() || input.rows < shortest.rows)) shortest = input;
  }
  return shortest;
}

const OpRegistration zip_registration(
    {
        .name = "zip",
        .role = ir::Role::kStream,
        .summary = "Joins the columns of several data sets, row by row.",
        .doc = "Row i has the columns of row i of every input, so no two inputs may have a column of the same name. An "
               "epoch ends with the shortest input. A row's key is a mix of the keys of its rows. Over sources with "
               "random access it has random access, too; elsewhere, with shards, the inputs must be sharded alike.",
        .min_inputs = 2,
        .max_inputs = -1,
        .traits = {.indexed = true, .side_by_side = true},
        .python_module = "dataset",
        .example = "ds.zip(other)",
        .infer = InferZip,
        .reads = ir::PassesColumns(),
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       return std::make_unique<ZipOperator>(arguments.inputs.size());
     },
     .indexed = [](const OpArguments& /*arguments*/,
                   IndexedSources inputs) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
       HEADRACE_RETURN_IF_ERROR(ZippedSource::Check(inputs));
       return std::make_unique<ZippedSource>(std::move(inputs));
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           // For each input: rows used after its checkpoint.
           properties.checkpoint_counters = static_cast<int>(arguments.inputs.size());
         },
     .cardinality = Shortest});

}  // namespace
}  // namespace headrace
