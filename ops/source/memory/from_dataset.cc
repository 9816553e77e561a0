#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "core/row_id.h"
#include "core/stop_signal.h"
#include "engine/operator/operator.h"
#include "ops/order/permute.h"
#include "ops/source/memory/host_row.h"

namespace headrace {
namespace {

class DatasetSource : public IndexedSource {
 public:
  DatasetSource(std::shared_ptr<HostRows> rows, const OpArguments& arguments)
      : rows_(std::move(rows)),
        name_(arguments.attributes.ReferenceName("dataset")),
        columns_(arguments.output.columns),
        stream_(RowRandom::StreamOf(arguments.seed, arguments.salt)),
        size_(rows_->size()) {}

  uint64_t size() const override { return size_; }

  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    return Append({wanted.epoch, {&wanted.position, 1}, {&wanted.occurrence_key, 1}}, block);
  }

  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    absl::Status status = Append(wanted, block);
    JoinSmallRows(block);
    return status;
  }

  void Identify(uint64_t epoch, uint64_t index, RowId& id, Provenance& provenance) const override {
    id = {epoch, index};
    provenance = {nullptr, static_cast<int64_t>(index), -1};
  }

  // What the rows hold is not known before they are asked for.
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    fingerprints.push_back({Cat("from_dataset ", name_), size_, 0});
  }

 private:
  absl::Status Append(const RowPositions& wanted, Block& block) const {
    if (StopSignal::Raised()) return StopSignal::Error();
    std::vector<std::vector<Tensor>> rows;
    const absl::Status read = ReadRuns(wanted, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      const uint64_t index = wanted.positions[i];
      HEADRACE_RETURN_IF_ERROR(CheckHostRow(columns_, rows[i], "the dataset", name_, index));
      AppendRow(block, {wanted.epoch, index}, {nullptr, static_cast<int64_t>(index), -1}, rows[i]);
    }
    return read;
  }

  // Reads rows that come again with a key of their own; where rows are read in runs, a run has that of its first row.
  absl::Status ReadRuns(const RowPositions& wanted, std::vector<std::vector<Tensor>>& rows) const {
    const uint64_t epoch_key = RowRandom::KeyOf(stream_, wanted.epoch);
    const size_t count = wanted.positions.size();
    for (size_t first = 0; first < count;) {
      const uint64_t occurrence = wanted.occurrence_key(first);
      size_t end = first + 1;
      while (end < count && (rows_->in_runs() || wanted.occurrence_key(end) == occurrence)) ++end;
      const uint64_t key = occurrence == 0 ? epoch_key : MixKey(epoch_key, occurrence);
      HEADRACE_RETURN_IF_ERROR(rows_->Read(key, wanted.positions.subspan(first, end - first), rows));
      first = end;
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<HostRows> rows_;
  const std::string name_;
  const ir::Columns columns_;
  const uint64_t stream_;
  const uint64_t size_;
};

absl::StatusOr<ir::Schema> InferFromDataset(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  ir::Schema schema = attributes.Columns("columns");
  if (schema.columns.empty()) return GraphError("columns is empty; name what each row of the dataset holds");
  return schema;
}

// Null: it is not bound here.
std::shared_ptr<HostRows> RowsOf(const OpArguments& arguments) {
  const auto& bound = arguments.run->bindings->rows;
  const auto found = bound.find(arguments.attributes.ReferenceName("dataset"));
  return found == bound.end() ? nullptr : found->second;
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeSource(const OpArguments& arguments) {
  std::shared_ptr<HostRows> rows = RowsOf(arguments);
  if (rows == nullptr) {
    return GraphError("the Python dataset ", arguments.attributes.ReferenceName("dataset"),
                      " is not here: a graph that holds one runs only where it was built");
  }
  return std::make_unique<DatasetSource>(std::move(rows), arguments);
}

void Describe(const OpArguments& arguments, OperatorProperties& properties) {
  const std::shared_ptr<HostRows> rows = RowsOf(arguments);
  if (rows == nullptr) return;
  properties.run_rows = rows->run_rows();
  properties.processes = rows->processes();
}

const OpRegistration from_dataset_registration(
    {
        .name = "from_dataset",
        .role = ir::Role::kSource,
        .summary = "Gives the rows of a Python object with `__len__` and `__getitem__`, such as a torch Dataset.",
        .doc =
            "The object is asked for row i as dataset[i], by numbers from 0, in the order in which the rows are "
            "needed, never for an epoch that was not requested; if it has `__getitems__`, for "
            "runs of rows. Only the rows that a rank needs are asked for, and a state goes on at once. A row is a "
            "dict, a tuple or list in the order of the columns, or one value; Pillow's images become uint8 of "
            "shape (H, W, C), and everything else goes in exactly or is an error, as semantics/python.md says. A row's "
            "key is its number.\n"
            "Errors: an object without `__len__`, for which there is Generator; rows without a column, or of "
            "another type than declared.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {{.name = "dataset",
                        .type = ir::AttributeType::kReference,
                        .doc = "The object, by name.",
                        .referenced = ir::Referenced::kDataset},
                       {.name = "columns",
                        .type = ir::AttributeType::kColumns,
                        .doc = "The columns of a row, with their types."},
                       DeclareShuffle()},
        .traits = {.deterministic = false, .indexed = true, .python = true},
        .python =
            {.parameters =
                 "dataset: Any, columns: str | Sequence[str] | None = None, types: Columns | None = None, "
                 "shuffle: bool = False, processes: int = 0, *, worker_init: Callable[[int], Any] | None = None, "
                 "seed_globals: bool = True, seed: int | None = None, name: str | None = None",
             .docs = {{"dataset", "The object."},
                      {"columns",
                       "Names of the columns: the keys of rows that are dicts, of which others are left out, or the "
                       "values of tuples in their order. None: the keys of row 0, which is asked for at once."},
                      {"types",
                       "What is known of the columns: a dict from name to dtype, or to (dtype, shape): {\"image\": "
                       "(\"uint8\", (None, None, 3))}."},
                      {"shuffle"},
                      {"processes",
                       "Worker processes that are asked for rows; 0: a thread of this process asks. The object is sent "
                       "to them once, when the run begins; they never import the script."},
                      {"worker_init",
                       "Called in each process when a run begins to use it, with the process's number from 0: again "
                       "for each later run."},
                      {"seed_globals",
                       "Whether the generators of random, NumPy and torch are seeded for each row in the processes, or "
                       "for each run of `__getitems__` as for its first row."},
                      {"seed"},
                      {"name"}}},
        .example = "hr.from_dataset([{\"x\": i, \"square\": i * i} for i in range(10)], shuffle=True)",
        .infer = InferFromDataset,
    },
    {.indexed_source = MakeSource, .properties = Describe});

}  // namespace
}  // namespace headrace
