#include "ops/source/memory/host_row.h"

#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

constexpr size_t kSmallBytes = 1024;

void JoinSmall(BlockColumn& column) {
  std::vector<Tensor> rows;
  for (int i = 0; i < column.rows(); ++i) {
    Tensor row = column.row(i);
    const bool alike = rows.empty() || (row.dtype() == rows[0].dtype() && row.shape() == rows[0].shape());
    if (row.bytes() > kSmallBytes || !alike) return;
    rows.push_back(std::move(row));
  }
  if (rows.size() < 2) return;
  absl::StatusOr<Tensor> stack = Stack(rows);
  // Without memory for it, the rows stay as they are.
  if (stack.ok()) column = BlockColumn::Stacked(*std::move(stack));
}

}  // namespace

absl::Status CheckHostRow(const ir::Columns& columns, const std::vector<Tensor>& row, std::string_view kind,
                          std::string_view source, uint64_t index) {
  if (row.size() != columns.size()) {
    return DataError("row ", index, " of ", kind, " ", source, " has ", row.size(), " values for ", columns.size(),
                     " columns");
  }
  for (size_t i = 0; i < row.size(); ++i) {
    if (ir::FitsType(columns[i].type, row[i].dtype(), row[i].shape())) continue;
    return DataError("column \"", columns[i].name, "\" of row ", index, " of ", kind, " ", source, " is ",
                     row[i].TypeName(), "; it was declared as ", ir::TypeName(columns[i].type));
  }
  return absl::OkStatus();
}

void JoinSmallRows(Block& block) {
  for (BlockColumn& column : block.columns) JoinSmall(column);
}

}  // namespace headrace
