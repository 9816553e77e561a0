#include "ops/map/map_operator.h"

#include <utility>
#include <vector>

#include "core/row_warning.h"

namespace headrace {

MapOperator::MapOperator(const std::string& name, MapProgram program)
    : program_(std::move(program)),
      warnings_(program_.may_warn() ? std::make_shared<RowWarnings>(name) : nullptr),
      work_counts_(program_.counts_work() ? std::make_shared<WorkCounts>() : nullptr) {}

void MapOperator::Apply(Block& block) const {
  if (block.rows() > 1 && program_.RunStacked(block)) return;
  ApplyToRows(block, [&](int i, MapRow& row) {
    return MakeCounted(block, i, row, [&](int at, MapRow& made) {
      made.columns.resize(program_.columns());
      return program_.Run(program_.all(), block, at, true, made);
    });
  });
}

void MapOperator::ApplyRun(absl::Span<Block* const> blocks, absl::FunctionRef<void(size_t end)> done) const {
  std::vector<MapRow> rows(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (BlockColumn& column : blocks[i]->columns) rows[i].columns.push_back(column.TakeRow(0));
    rows[i].columns.resize(program_.columns());
  }
  program_.RunRows(blocks, absl::MakeSpan(rows), [&](size_t first, absl::Span<absl::Status> made) {
    for (size_t i = 0; i < made.size(); ++i) {
      Block& block = *blocks[first + i];
      if (!made[i].ok()) {
        block.Fail(0, std::move(made[i]));
        block.columns.assign(program_.columns(), BlockColumn());
        continue;
      }
      block.columns.clear();
      for (Tensor& column : rows[first + i].columns) block.columns.emplace_back(std::move(column));
    }
    done(first + made.size());
  });
}

void MapOperator::ApplyToRows(Block& block, RowMaker make) const {
  if (block.rows() == 0) {
    // Drops the columns of the input, because operators above rely on those of the output.
    block.columns.clear();
    return;
  }
  const WorkCounts::Scope scope(work_counts_.get());
  MapRow row;
  absl::InlinedVector<BlockColumn, 2> results(program_.columns());
  for (int i = 0; i < block.rows(); ++i) {
    row.columns.clear();
    for (BlockColumn& column : block.columns) row.columns.push_back(column.TakeRow(i));
    absl::Status status = make(i, row);
    if (!status.ok()) {
      block.Fail(i, std::move(status));
      break;
    }
    for (size_t c = 0; c < results.size(); ++c) results[c].Append(std::move(row.columns[c]));
  }
  block.columns = std::move(results);
}

absl::Status MapOperator::MakeCounted(const Block& block, int i, MapRow& row, RowMaker make) const {
  if (warnings_ == nullptr) return make(i, row);
  const RowWarning warning;
  absl::Status status = make(i, row);
  if (status.ok() && !warning.text().empty()) warnings_->Add(block.ids[i], block.provenances[i], warning.text());
  return status;
}

}  // namespace headrace
