#include "ops/mix/mixed_source.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/philox.h"
#include "core/stop_signal.h"
#include "ops/mix/mixture_draws.h"
#include "ops/mix/mixture_table.h"
#include "ops/order/epoch_slots.h"
#include "ops/rows/read_inputs.h"
#include "ops/rows/same_columns.h"

namespace headrace {
namespace {

// Tables of two epochs are kept, in half of the budget.
constexpr uint64_t kTablesInBudget = 4;

class MixedSource : public IndexedSource {
 public:
  MixedSource(const OpArguments& arguments, MixtureStop stop, std::vector<double> weights, IndexedSources inputs)
      : inputs_(std::move(inputs)),
        column_indices_(ColumnIndicesOf(arguments)),
        stop_(stop),
        draws_(std::move(weights)),
        stream_(RowRandom::StreamOf(arguments.seed, arguments.salt)),
        memory_(static_cast<uint64_t>(arguments.run->memory)),
        first_epoch_(arguments.first_epoch) {
    for (const auto& input : inputs_) sizes_.push_back(input->size());
  }

  // Before anything else: works out how many rows the run's first epoch has.
  absl::Status Measure() {
    if (stop_ == MixtureStop::kAll) {
      HEADRACE_ASSIGN_OR_RETURN(size_, RowsTogether());
      return CheckFits(size_);
    }
    // Refused before they are counted, which may take hours.
    HEADRACE_RETURN_IF_ERROR(CheckFits(LeastRows()));
    HEADRACE_ASSIGN_OR_RETURN(first_table_, Draw(first_epoch_));
    size_ = first_table_->size();
    return absl::OkStatus();
  }

  uint64_t size() const override { return size_; }

  IndexedProperties properties() const override {
    IndexedProperties all = PropertiesTogether(inputs_);
    all.begins |= stop_ != MixtureStop::kAll;
    return all;
  }

  absl::StatusOr<BegunEpoch> Begin(uint64_t epoch) override {
    BegunEpoch begun;
    bool others = false;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i]->properties().begins) continue;
      HEADRACE_ASSIGN_OR_RETURN(const BegunEpoch each, inputs_[i]->Begin(epoch));
      if (each.rows != sizes_[i]) first_table_ = nullptr;
      sizes_[i] = each.rows;
      others = true;
      if (each.chosen != 0) begun.chosen = MixKey(MixKey(begun.chosen, i), each.chosen);
    }
    // Even a table of the same epoch may be of other sizes, if the user's code chose them.
    if (others) tables_.emplace();
    absl::Status drawn;
    const auto draw = [&]() -> Table {
      absl::StatusOr<Table> table = TakeTable(epoch);
      drawn = table.status();
      return drawn.ok() ? *std::move(table) : std::make_shared<const MixtureTable>(inputs_.size());
    };
    tables_->With(epoch, draw, [&](const MixtureTable& table) { begun.rows = table.size(); });
    if (!drawn.ok()) {
      tables_.emplace();
      return drawn;
    }
    return begun;
  }

  uint64_t numbers() const override { return numbers_.count(); }
  void FindNumbers(uint64_t epoch, absl::Span<uint64_t> positions) const override {
    std::vector<RowOfInput> rows(positions.size());
    const absl::Status found = With(epoch, [&](const MixtureTable& table) {
      for (size_t i = 0; i < rows.size(); ++i) rows[i] = RowInInput(table, {epoch, positions[i]});
    });
    if (found.ok()) numbers_.Find(rows, positions);
  }

  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    HEADRACE_ASSIGN_OR_RETURN(const RowOfInput found, Find(wanted));
    Block row;
    HEADRACE_RETURN_IF_ERROR(inputs_[found.input]->Read(found.row, row));
    Reorder(column_indices_[found.input], row.columns);
    Identify(wanted.epoch, found, row.ids[0]);
    AppendReadRow(row, block);
    return absl::OkStatus();
  }

  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    std::vector<RowOfInput> rows(wanted.positions.size());
    HEADRACE_RETURN_IF_ERROR(With(wanted.epoch, [&](const MixtureTable& table) {
      for (size_t i = 0; i < rows.size(); ++i) {
        rows[i] = RowInInput(table, {wanted.epoch, wanted.positions[i], wanted.occurrence_key(i)});
      }
    }));
    const auto read = [&](size_t input, const RowPositions& of_input, Block& read_rows) {
      absl::Status status = inputs_[input]->ReadRows(of_input, read_rows);
      Reorder(column_indices_[input], read_rows.columns);
      for (RowId& id : read_rows.ids) Identify(wanted.epoch, {input, {.epoch = of_input.epoch}}, id);
      return status;
    };
    return ReadRowsOfInputs(rows, read, block);
  }

  absl::Status CheckUnchanged() const override { return CheckInputsUnchanged(inputs_); }

  void StartRows(const RowPositions& wanted) const override {
    std::vector<RowOfInput> rows(wanted.positions.size());
    const absl::Status found = With(wanted.epoch, [&](const MixtureTable& table) {
      for (size_t i = 0; i < rows.size(); ++i) rows[i] = RowInInput(table, {wanted.epoch, wanted.positions[i]});
    });
    // Else ReadRows says why.
    if (found.ok()) StartRowsOfInputs(inputs_, rows);
  }

  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    const absl::StatusOr<RowOfInput> found = Find({epoch, position});
    if (!found.ok()) return;
    inputs_[found->input]->Identify(found->row.epoch, found->row.position, id, provenance);
    Identify(epoch, *found, id);
  }

  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    for (const auto& input : inputs_) input->AddFingerprints(fingerprints);
  }
  void AddNoteFiles(std::vector<std::string>& paths) const override {
    for (const auto& input : inputs_) input->AddNoteFiles(paths);
  }

 private:
  using Table = std::shared_ptr<const MixtureTable>;

  absl::StatusOr<uint64_t> RowsTogether() const {
    uint64_t rows = 0;
    for (const uint64_t size : sizes_) {
      if (!__builtin_add_overflow(rows, size, &rows)) continue;
      return UnsupportedError("the inputs have more rows together than numbers of 64 bits can count");
    }
    return rows;
  }

  // Those of every epoch, whatever is drawn: up to the end of an input, or of all.
  uint64_t LeastRows() const {
    if (stop_ == MixtureStop::kFirst) return *std::min_element(sizes_.begin(), sizes_.end());
    uint64_t rows = 0;
    for (const uint64_t size : sizes_) {
      if (__builtin_add_overflow(rows, size, &rows)) return std::numeric_limits<uint64_t>::max();
    }
    return rows;
  }

  uint64_t MostBytes() const { return memory_ / kTablesInBudget; }

  absl::Status CheckFits(uint64_t rows) const {
    constexpr uint64_t kMostRows = uint64_t{1} << 48;
    if (rows <= kMostRows && MixtureTable::BytesOf(inputs_.size(), rows) <= MostBytes()) return absl::OkStatus();
    return ResourceError("draws ", rows, " rows or more in an epoch, and its table of them would take more than a ",
                         "quarter of the budget of ", memory_,
                         " bytes; raise memory=", stop_ == MixtureStop::kRepeat ? ", or the smallest weights" : "");
  }

  absl::StatusOr<Table> Draw(uint64_t epoch) const {
    auto table = std::make_shared<MixtureTable>(inputs_.size());
    MixtureDraws draws = draws_;
    draws.Begin(RowRandom::KeyOf(stream_, epoch));
    constexpr uint64_t kChecked = 1 << 12;
    absl::Status refused;
    const auto give = [&](size_t input) {
      table->Add(input);
      if (table->size() % kChecked == 0) {
        refused = StopSignal::Raised() ? StopSignal::Error() : CheckFits(table->size());
      }
      return refused.ok();
    };
    const auto begin_pass = [&](size_t input, uint64_t pass) {
      refused = CheckMixturePass(input, pass);
      return refused.ok();
    };
    DrawMixture(stop_, sizes_, draws, give, begin_pass);
    HEADRACE_RETURN_IF_ERROR(refused);
    table->ShrinkToFit();
    return table;
  }

  // The one that Measure drew, if it is of that epoch and no size has changed since.
  absl::StatusOr<Table> TakeTable(uint64_t epoch) const {
    if (epoch == first_epoch_ && first_table_ != nullptr) return std::exchange(first_table_, nullptr);
    return Draw(epoch);
  }

  // For a position of the epoch. kClosed, without a call of `use`, if StopSignal ended the draws; where they could fail
  // otherwise, Begin made the table.
  template <typename Use>
  absl::Status With(uint64_t epoch, Use use) const {
    const auto make = [&]() -> Table {
      absl::StatusOr<Table> table = TakeTable(epoch);
      return table.ok() ? *std::move(table) : std::make_shared<const MixtureTable>(inputs_.size());
    };
    absl::Status found;
    tables_->With(epoch, make, [&](const MixtureTable& table) {
      if (table.size() == 0) {
        found = StopSignal::Error();
      } else {
        use(table);
      }
    });
    return found;
  }

  absl::StatusOr<RowOfInput> Find(const RowPosition& wanted) const {
    RowOfInput found;
    HEADRACE_RETURN_IF_ERROR(With(wanted.epoch, [&](const MixtureTable& table) { found = RowInInput(table, wanted); }));
    return found;
  }

  RowOfInput RowInInput(const MixtureTable& table, const RowPosition& wanted) const {
    const auto [input, earlier] = table.At(wanted.position);
    if (stop_ != MixtureStop::kRepeat) return {input, {wanted.epoch, earlier, wanted.occurrence_key}};
    const uint64_t pass = earlier / sizes_[input];
    return {input, {wanted.epoch * kMixturePasses + pass, earlier % sizes_[input], wanted.occurrence_key}};
  }

  void Identify(uint64_t epoch, const RowOfInput& found, RowId& id) const {
    if (stop_ == MixtureStop::kRepeat) {
      id.key = MixKey(id.key, found.row.epoch - epoch * kMixturePasses);
      id.epoch = epoch;
    }
    id.key = MixKey(id.key, found.input);
  }

  const IndexedSources inputs_;
  const NumbersOfInputs numbers_{inputs_};
  const ColumnIndices column_indices_;
  const MixtureStop stop_;
  const MixtureDraws draws_;
  const uint64_t stream_;
  const uint64_t memory_;
  const uint64_t first_epoch_;
  std::vector<uint64_t> sizes_;  // of the inputs, in the epoch that was begun
  uint64_t size_ = 0;
  mutable Table first_table_;  // until it is first needed, by Begin alone
  mutable std::optional<EpochSlots<MixtureTable>> tables_{std::in_place};
};

absl::Status CheckInputs(const IndexedSources& inputs, MixtureStop stop) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const IndexedProperties properties = inputs[i]->properties();
    if (properties.run_length > 1) {
      return GraphError("would split groups of ", properties.run_length, " rows that the sampler of input ", i,
                        " keeps together; mix after batch");
    }
    if (stop != MixtureStop::kRepeat) continue;
    if (inputs[i]->size() == 0) {
      return GraphError("has no end with stop=\"repeat\": input ", i, " gives no rows, however often it begins again");
    }
    if (!properties.begins) continue;
    return UnsupportedError("with stop=\"repeat\" needs inputs with as many rows in every epoch, but a sampler or mix ",
                            "below input ", i, " may have other numbers in other epochs; use another stop there");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckMixturePass(size_t input, uint64_t pass) {
  if (pass < kMixturePasses - 1) return absl::OkStatus();
  return UnsupportedError("with stop=\"repeat\" runs input ", input, " at most ", kMixturePasses - 1,
                          " times in an epoch; lower its weight, or mix more rows in its place");
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MixSources(const OpArguments& arguments, MixtureStop stop,
                                                          std::vector<double> weights, IndexedSources inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckInputs(inputs, stop));
  auto mixed = std::make_unique<MixedSource>(arguments, stop, std::move(weights), std::move(inputs));
  HEADRACE_RETURN_IF_ERROR(mixed->Measure());
  return mixed;
}

}  // namespace headrace
