#include "ops/source/arrow/gathered_column.h"

#include <utility>

namespace headrace {

std::optional<BlockColumn> GatheredColumn(absl::Span<const RowOfArrow> rows) {
  std::optional<GatheredRows> gathered = GatherArrowRows(rows);
  if (!gathered.has_value()) return std::nullopt;
  if (!gathered->splits.has_value()) return BlockColumn::Stacked(std::move(gathered->values));
  return BlockColumn::Ragged(std::move(gathered->values), *std::move(gathered->splits));
}

}  // namespace headrace
