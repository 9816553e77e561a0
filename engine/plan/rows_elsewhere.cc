#include "engine/plan/rows_elsewhere.h"

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/plan/forwarded_source.h"
#include "engine/plan/plan_checks.h"
#include "ir/type.h"

namespace headrace {
namespace {

constexpr std::string_view kOfTheSame = ": make the rows of the same data set";

// Why the row does not fit the schema.
absl::Status OtherRow(uint64_t position, const ir::Schema& schema, absl::Span<const Tensor> row) {
  const size_t columns = schema.columns.size();
  for (size_t i = 0; i < columns && row.size() == columns; ++i) {
    const auto& [name, type] = schema.columns[i];
    if (ir::FitsType(type, row[i].dtype(), row[i].shape())) continue;
    return GraphError("row ", position, ", which was made elsewhere, has ",
                      ir::TypeName(ir::ColumnType::Of(row[i].dtype(), row[i].shape())), " in column \"", name,
                      "\", which is ", ir::TypeName(type), " here", kOfTheSame);
  }
  return GraphError("row ", position, ", which was made elsewhere, has ", row.size(), " columns, not ", columns,
                    kOfTheSame);
}

class RowsElsewhere : public ForwardedSource {
 public:
  RowsElsewhere(std::unique_ptr<IndexedSource> source, std::shared_ptr<HostRows> rows, ir::Schema schema)
      : ForwardedSource(std::move(source)),
        rows_(std::move(rows)),
        schema_(std::move(schema)),
        rows_of_epoch_(size()) {}

  IndexedProperties properties() const override {
    IndexedProperties properties = source().properties();
    properties.far_reads = 0;
    return properties;
  }

  absl::StatusOr<BegunEpoch> Begin(uint64_t epoch) override {
    absl::StatusOr<BegunEpoch> begun = ForwardedSource::Begin(epoch);
    if (begun.ok()) rows_of_epoch_.store(begun->rows, std::memory_order_relaxed);
    return begun;
  }

  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    source().Identify(epoch, position % rows_of_epoch_.load(std::memory_order_relaxed), id, provenance);
  }

  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    return ReadRows({wanted.epoch, {&wanted.position, 1}}, block);
  }

  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    std::vector<std::vector<Tensor>> rows;
    const absl::Status read = rows_->Read(wanted.epoch, wanted.positions, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      const uint64_t position = wanted.positions[i];
      if (!ir::FitsSchema(schema_, rows[i])) return OtherRow(position, schema_, rows[i]);
      RowId id;
      Provenance provenance;
      Identify(wanted.epoch, position, id, provenance);
      AppendRow(block, id, provenance, rows[i]);
    }
    return read;
  }

 private:
  const std::shared_ptr<HostRows> rows_;
  const ir::Schema schema_;
  // The rows of the epoch that began last; IndexedSourceStage begins none while rows are read.
  std::atomic<uint64_t> rows_of_epoch_;
};

std::unique_ptr<PlanNode>& SourceBelow(std::unique_ptr<PlanNode>& node) {
  std::unique_ptr<PlanNode>* below = &node;
  while ((*below)->indexed == nullptr) below = &(*below)->inputs[0];
  return *below;
}

}  // namespace

absl::Status TakeRowsElsewhere(std::shared_ptr<HostRows> rows, std::unique_ptr<PlanNode>& root) {
  std::unique_ptr<PlanNode>* top = &root;
  for (; !IsKeyed(**top); top = &(*top)->inputs[0]) {
    const PlanNode& node = **top;
    if (node.inputs.size() == 1) continue;
    return ErrorAt(node, UnsupportedError("its rows are not found by their numbers, so they cannot be made elsewhere"));
  }
  std::unique_ptr<PlanNode> source = std::move(SourceBelow(*top));
  // Identities of rows above the cache are of their own epochs, and the source here has those of epoch 0.
  if (*top != nullptr && (*top)->arguments.epoch_cycle != source->arguments.epoch_cycle) {
    return ErrorAt(*source,
                   UnsupportedError("stands below a cache, which has the rows of epoch 0 in each epoch, so they ",
                                    "cannot be made elsewhere: put the cache above what needs rows in order, leave it ",
                                    "out, or give it transparent=True"));
  }
  // Where epochs begin, they may have other sizes, and runs fewer rows than positions.
  if (!source->indexed->properties().begins && rows->size() != source->indexed->size()) {
    return ErrorAt(*source, GraphError("has ", source->indexed->size(), " rows, and ", rows->size(),
                                       " were made elsewhere", kOfTheSame));
  }
  if (*top != nullptr) source->arguments.output = (*top)->arguments.output;
  OperatorProperties& properties = source->properties;
  properties.traits.file_io = false;
  properties.traits.python = true;
  properties.processes = rows->processes();
  properties.run_rows = rows->run_rows();
  source->indexed =
      std::make_unique<RowsElsewhere>(std::move(source->indexed), std::move(rows), source->arguments.output);
  source->made_elsewhere = true;
  *top = std::move(source);
  return absl::OkStatus();
}

}  // namespace headrace
