#include "ir/ragged_columns.h"

#include "core/error.h"
#include "core/text.h"

namespace headrace::ir {
namespace {

constexpr std::string_view kSplits = "_splits";
constexpr std::string_view kListSplits = "[splits]";

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

std::string SplitsName(std::string_view values) { return Cat(values, kSplits); }
std::string ListSplitsName(std::string_view values) { return Cat(values, kListSplits); }

int ListSplitsOf(const Schema& schema, std::string_view values) {
  const int splits = schema.IndexOf(ListSplitsName(values));
  return splits >= 0 && schema.columns[static_cast<size_t>(splits)].type.ragged ? splits : -1;
}

absl::StatusOr<std::vector<RaggedColumn>> RaggedColumns(const Schema& schema) {
  std::vector<RaggedColumn> found;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    if (!column.type.ragged) continue;
    const std::string_view name = column.name;
    const bool list = EndsWith(name, kListSplits);
    const size_t suffix = list ? kListSplits.size() : kSplits.size();
    const int values = list || EndsWith(name, kSplits) ? schema.IndexOf(name.substr(0, name.size() - suffix)) : -1;
    if (values < 0) {
      return GraphError("column \"", name, "\" holds the splits of a ragged column, whose values are not there under ",
                        "the name that goes with them (\"boxes\" with \"boxes_splits\"): keep both, rename both, or ",
                        "drop both with project");
    }
    found.push_back({values, static_cast<int>(i), list});
  }
  return found;
}

absl::Status RefuseLists(const Schema& schema, absl::Span<const std::string> names, std::string_view what) {
  for (const std::string& name : names) {
    const Column* const column = schema.Find(name);
    const bool splits = column != nullptr && column->type.ragged && EndsWith(name, kListSplits);
    if (!splits && ListSplitsOf(schema, name) < 0) continue;
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

}  // namespace headrace::ir
