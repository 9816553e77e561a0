#include "ops/plugin/plugin_source.h"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "engine/operator/operator.h"
#include "kernels/plugin/plugin_call.h"
#include "kernels/plugin/plugin_values.h"
#include "ops/order/permute.h"
#include "ops/plugin/plugin_columns.h"
#include "ops/source/memory/host_row.h"

namespace headrace {
namespace {

// Of version 1.1 of the interface.
static_assert(sizeof(headrace_rows) == 24, "structures may only grow at their ends");

class PluginSource : public IndexedSource {
 public:
  PluginSource(const PluginSourceTable& table, const OpArguments& arguments)
      : table_(table), values_(table.attributes, arguments.attributes), columns_(arguments.output.columns) {
    for (const ir::Column& column : columns_) types_.push_back(column.type);
  }
  PluginSource(const PluginSource&) = delete;
  ~PluginSource() override {
    if (table_.given.destroy == nullptr || state_ == nullptr) return;
    try {
      table_.given.destroy(state_);
    } catch (...) {  // the interface forbids it, and nobody is there to be told
    }
  }

  absl::Status Open() {
    rows_.struct_size = sizeof(rows_);
    headrace_call call(table_.op, "open");
    const absl::Status opened =
        call.Run([this](headrace_call* call) { return table_.given.open(call, values_.values(), &state_, &rows_); });
    if (!opened.ok()) {
      state_ = nullptr;
      return opened;
    }
    if (rows_.reserved != 0) {
      return BrokenRule(table_.op, "open", Cat("sets the reserved field of headrace_rows to ", rows_.reserved));
    }
    if (rows_.count <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return absl::OkStatus();
    return BrokenRule(table_.op, "open", Cat("gives ", rows_.count, " rows; 0 to 2^63 - 1 are possible"));
  }

  uint64_t size() const override { return rows_.count; }

  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    return Append(wanted.epoch, wanted.position, block);
  }

  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    absl::Status status;
    for (const uint64_t position : wanted.positions) {
      status = Append(wanted.epoch, position, block);
      if (!status.ok()) break;
    }
    JoinSmallRows(block);
    return status;
  }

  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    id = {epoch, position};
    provenance = {nullptr, static_cast<int64_t>(position), -1};
  }

  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    fingerprints.push_back({table_.op, rows_.count, rows_.fingerprint});
  }

 private:
  absl::Status Append(uint64_t epoch, uint64_t position, Block& block) const {
    if (StopSignal::Raised()) return StopSignal::Error();
    headrace_call::Row row = {.types = types_, .typed_by = "columns()", .outputs = Tensors(types_.size())};
    headrace_call call(table_.op, "read");
    call.Give(&row);
    HEADRACE_RETURN_IF_ERROR(call.Run([&](headrace_call* call) { return table_.given.read(call, state_, position); }));
    HEADRACE_RETURN_IF_ERROR(FinishOutputs(table_.op, "read", {}, row.outputs));
    AppendRow(block, {epoch, position}, {nullptr, static_cast<int64_t>(position), -1}, row.outputs);
    return absl::OkStatus();
  }

  const PluginSourceTable& table_;
  const PluginValues values_;
  const ir::Columns columns_;
  std::vector<ir::ColumnType> types_;
  void* state_ = nullptr;
  headrace_rows rows_ = {};
};

}  // namespace

ir::Declaration DeclareSource(std::string_view plugin, const PluginSourceTable& table) {
  ir::Declaration declaration = DeclarationOf(plugin, table);
  declaration.attributes.push_back(DeclareShuffle());
  return declaration;
}

absl::Status RegisterSource(std::string_view plugin, const PluginSourceTable& table) {
  ir::Declaration declaration = DeclareSource(plugin, table);
  declaration.infer = [&table](const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
    return PluginColumns(table.op, table.given.columns, table.attributes, attributes);
  };
  return RegisterOp(
      std::move(declaration),
      {.indexed_source = [&table](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
        auto source = std::make_unique<PluginSource>(table, arguments);
        HEADRACE_RETURN_IF_ERROR(source->Open());
        return source;
      }});
}

}  // namespace headrace
