#include "ops/source/lines/csv_layout.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/seeded_hash.h"
#include "ir/suggestion.h"

namespace headrace {
namespace {

// Far more than a line of 256 MiB has.
constexpr int64_t kMostFields = int64_t{1} << 28;
constexpr size_t kNamed = 20;

// The fields of a declared column.
struct FieldRange {
  size_t begin = 0;
  size_t fields = 1;
  const ir::Column* column = nullptr;
};

// Tables of genes have tens of thousands of columns.
using ByName = std::unordered_map<std::string_view, size_t, SeededHash>;

ByName NumbersByName(const ir::Columns& columns) {
  ByName numbers;
  for (size_t i = 0; i < columns.size(); ++i) numbers.emplace(columns[i].name, i);
  return numbers;
}

void AddUnread(std::vector<CsvRun>& runs, size_t fields) {
  if (fields == 0) return;
  const bool goes_on = !runs.empty() && runs.back().column == CsvRun::kNoColumn;
  if (goes_on) {
    runs.back().fields += fields;
  } else {
    runs.push_back({CsvRun::kNoColumn, fields});
  }
}

// Of lines of `total` fields; the ranges are in order and share none.
std::vector<CsvRun> RunsOf(const std::vector<FieldRange>& ranges, size_t total, const ir::Columns& columns) {
  std::vector<CsvRun> runs;
  const ByName numbers = NumbersByName(columns);
  size_t at = 0;
  for (const FieldRange& range : ranges) {
    AddUnread(runs, range.begin - at);
    const auto found = numbers.find(range.column->name);
    if (found == numbers.end()) {
      AddUnread(runs, range.fields);
    } else {
      runs.push_back({static_cast<int>(found->second), range.fields});
    }
    at = range.begin + range.fields;
  }
  AddUnread(runs, total - at);
  return runs;
}

// Lists only so many names.
std::string NoSuchName(const std::string& name, absl::Span<const std::string> names, std::string_view of) {
  std::string listed;
  for (size_t i = 0; i < names.size() && i < kNamed; ++i) Append(listed, i == 0 ? "" : ", ", names[i]);
  if (names.size() > kNamed) listed += ", …";
  return Cat(of, " has no \"", name, "\"", ir::DidYouMean(name, names), " (", listed, ")");
}

absl::Status NameTwice(std::string_view of, const std::string& name) {
  return GraphError(of, " has the name \"", name, "\" twice; name the fields: columns=[…]");
}

}  // namespace

absl::StatusOr<size_t> FieldsOfColumn(const ir::Column& column) {
  int64_t fields = 1;
  for (const int64_t size : *column.type.shape) {
    if (size == ir::kUnknownDim || size == 0) {
      return GraphError("the column \"", column.name, "\" is ", ir::TypeName(column.type),
                        "; say how many fields it takes, such as (784,): at least 1");
    }
    if (size > kMostFields / fields) {
      return GraphError("the column \"", column.name, "\" takes more than ", kMostFields, " fields of a line");
    }
    fields *= size;
  }
  return static_cast<size_t>(fields);
}

absl::StatusOr<std::vector<CsvRun>> RunsByNames(absl::Span<const std::string> names, const ir::Schema& declared,
                                                const ir::Columns& columns) {
  std::vector<FieldRange> ranges;
  std::unordered_set<std::string_view, SeededHash> seen;
  const ByName numbers = NumbersByName(declared.columns);
  size_t total = 0;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return GraphError("columns names \"", name, "\" twice");
    const auto found = numbers.find(name);
    size_t fields = 1;
    if (found != numbers.end()) {
      const ir::Column& column = declared.columns[found->second];
      HEADRACE_ASSIGN_OR_RETURN(fields, FieldsOfColumn(column));
      ranges.push_back({total, fields, &column});
    }
    total += fields;
  }
  for (const ir::Column& column : declared.columns) {
    if (seen.count(column.name) == 0) return GraphError(NoSuchName(column.name, names, "columns"));
  }
  return RunsOf(ranges, total, columns);
}

absl::StatusOr<std::vector<CsvRun>> RunsByHeader(absl::Span<const std::string> header, const ir::Schema& declared,
                                                 const ir::Columns& columns) {
  std::vector<FieldRange> ranges;
  ByName numbers;
  std::unordered_set<std::string_view, SeededHash> twice;
  for (size_t i = 0; i < header.size(); ++i) {
    if (!numbers.emplace(header[i], i).second) twice.insert(header[i]);
  }
  for (const ir::Column& column : declared.columns) {
    const auto found = numbers.find(column.name);
    if (found == numbers.end()) return GraphError(NoSuchName(column.name, header, "the header"));
    if (twice.count(column.name) > 0) return NameTwice("the header", column.name);
    HEADRACE_ASSIGN_OR_RETURN(const size_t fields, FieldsOfColumn(column));
    const size_t begin = found->second;
    if (fields > header.size() - begin) {
      return GraphError("the column \"", column.name, "\" takes ", fields, " fields, and the header has ",
                        header.size() - begin, " from that name on");
    }
    ranges.push_back({begin, fields, &column});
  }
  std::sort(ranges.begin(), ranges.end(), [](const FieldRange& a, const FieldRange& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < ranges.size(); ++i) {
    const FieldRange& before = ranges[i - 1];
    if (ranges[i].begin < before.begin + before.fields) {
      return GraphError("the column \"", before.column->name, "\" takes ", before.fields,
                        " fields, and with them that of \"", ranges[i].column->name, "\"");
    }
  }
  return RunsOf(ranges, header.size(), columns);
}

}  // namespace headrace
