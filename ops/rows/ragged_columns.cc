#include "ops/rows/ragged_columns.h"

#include "core/error.h"
#include "core/text.h"
#include "ir/list_columns.h"

namespace headrace {
namespace {

constexpr std::string_view kSplits = "_splits";

// "boxes" of "boxes_splits"; "" of another name, which no column has.
std::string_view ValuesOfSplits(std::string_view name) {
  const bool splits = name.size() > kSplits.size() && name.substr(name.size() - kSplits.size()) == kSplits;
  return splits ? name.substr(0, name.size() - kSplits.size()) : "";
}

}  // namespace

std::string SplitsName(std::string_view values) { return Cat(values, kSplits); }

absl::StatusOr<std::vector<RaggedColumn>> RaggedColumns(const ir::Schema& schema) {
  std::vector<RaggedColumn> found;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const ir::Column& column = schema.columns[i];
    if (!column.type.ragged) continue;
    const std::string_view name = column.name;
    const std::string_view list = ir::ListOfSplits(name);
    const int values = schema.IndexOf(list.empty() ? ValuesOfSplits(name) : list);
    if (values < 0) {
      return GraphError("column \"", name, "\" holds the splits of a ragged column, whose values are not there under ",
                        "the name that goes with them (\"boxes\" with \"boxes_splits\"): keep both, rename both, or ",
                        "drop both with project");
    }
    found.push_back({values, static_cast<int>(i), !list.empty()});
  }
  return found;
}

absl::Status RefuseLists(const ir::Schema& schema, absl::Span<const std::string> names, std::string_view what) {
  for (const std::string& name : names) {
    const ir::Column* const column = schema.Find(name);
    const bool splits = column != nullptr && column->type.ragged && !ir::ListOfSplits(name).empty();
    if (!splits && ir::ListSplitsOf(schema, name) < 0) continue;
    return GraphError("column \"", name, "\" is a list of rows, which batch(ragged=\"list\") made: it cannot be ", what,
                      "; do that below batch, or write ragged=\"splits\"");
  }
  return absl::OkStatus();
}

absl::Status CheckSplits(const Tensor& splits, const Tensor& values) {
  const bool numbers =
      splits.dtype() == DType::kInt64 && splits.rank() == 1 && splits.dim(0) > 0 && splits.contiguous();
  bool good = numbers && values.rank() > 0 && splits.data<int64_t>()[0] == 0;
  for (int64_t i = 1; good && i < splits.dim(0); ++i) good = splits.data<int64_t>()[i - 1] <= splits.data<int64_t>()[i];
  if (good && splits.data<int64_t>()[splits.dim(0) - 1] == values.dim(0)) return absl::OkStatus();
  return DataError("splits ", splits.TypeName(), " are not those of values ", values.TypeName(),
                   ": they must begin with 0, not fall, and end with the number of values");
}

}  // namespace headrace
