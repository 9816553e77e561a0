#include "ops/batch/batch_columns.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "ir/list_columns.h"
#include "ir/suggestion.h"
#include "ops/rows/ragged_columns.h"

namespace headrace {
namespace {

using Named = std::map<std::string, Joining>;

absl::StatusOr<Joining> JoiningOf(std::string_view text) {
  if (text == "pad") return Joining::kPad;
  if (text == "splits") return Joining::kSplits;
  if (text == "list") return Joining::kList;
  return GraphError("ragged is \"", text, "\"; it must be \"list\", \"pad\" or \"splits\"");
}

// The columns that `ragged` names one by one.
absl::StatusOr<Named> NamedColumns(const ir::Attributes& attributes, const ir::Schema& input) {
  Named named;
  for (const auto& [name, text] : attributes.Pairs("ragged_columns")) {
    HEADRACE_RETURN_IF_ERROR(ir::FindColumn(input, name).status());
    HEADRACE_ASSIGN_OR_RETURN(named[name], JoiningOf(text));
  }
  return named;
}

std::string SayWhich(std::string_view column, std::string_view form) {
  return Cat("say which columns are ragged, ragged={\"", column, "\": \"", form, "\"}");
}

// Of a column that `ragged` does not name: it is ragged if its first axis is not known.
absl::StatusOr<Joining> JoiningBySchema(const ir::Column& column, const std::string& form) {
  if (!column.type.shape.has_value()) {
    if (IsVariableLength(column.type.dtype)) return Joining::kStack;
    return GraphError("the shape of column \"", column.name, "\" is not known before the run; ",
                      SayWhich(column.name, form), ", or give its type where it is made (types=)");
  }
  const bool varies = !column.type.shape->empty() && column.type.shape->front() == ir::kUnknownDim;
  return varies ? JoiningOf(form) : Joining::kStack;
}

absl::Status CheckRagged(const ir::Column& column) {
  if (!column.type.shape.has_value() || !column.type.shape->empty()) return absl::OkStatus();
  return GraphError("column \"", column.name, "\" is ", ir::TypeName(column.type),
                    ": a ragged column needs a first axis, which differs from row to row");
}

absl::Status SetPadding(const ir::Attributes& attributes, std::vector<BatchColumn>& columns, const ir::Schema& input) {
  const std::vector<std::string> names = attributes.Strings("pad_columns");
  const std::vector<ir::Number> values = attributes.Numbers("pad_values");
  if (names.size() != values.size()) {
    return GraphError("pad_columns names ", names.size(), " columns, and pad_values has ", values.size(), " values");
  }
  for (size_t i = 0; i < names.size(); ++i) {
    HEADRACE_RETURN_IF_ERROR(ir::FindColumn(input, names[i]).status());
    BatchColumn& column = columns[static_cast<size_t>(input.IndexOf(names[i]))];
    if (column.joining != Joining::kPad) {
      return GraphError("pad_value names column \"", names[i], "\", which is not padded; ", SayWhich(names[i], "pad"));
    }
    column.padding = values[i];
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<BatchColumn>> BatchColumns(const ir::Attributes& attributes, const ir::Schema& input) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<RaggedColumn> below, RaggedColumns(input));
  if (!below.empty()) {
    return GraphError("column \"", input.columns[static_cast<size_t>(below[0].values)].name,
                      "\" is ragged already, by a batch below, and there is one level of raggedness; unbatch first");
  }
  const bool pads = attributes.Bool("pad");
  const bool by_schema = !attributes.IsNone("ragged");
  if (pads && by_schema) {
    return GraphError("pad=True is short for ragged=\"pad\"; give one of pad and ragged=\"",
                      attributes.String("ragged"), "\"");
  }
  HEADRACE_ASSIGN_OR_RETURN(const Named named, NamedColumns(attributes, input));
  std::vector<BatchColumn> columns;
  for (const ir::Column& column : input.columns) {
    Joining joining = pads ? Joining::kPad : Joining::kStack;
    const auto found = named.find(column.name);
    if (found != named.end()) {
      joining = found->second;
    } else if (by_schema) {
      HEADRACE_ASSIGN_OR_RETURN(joining, JoiningBySchema(column, attributes.String("ragged")));
    }
    if (IsRagged(joining)) HEADRACE_RETURN_IF_ERROR(CheckRagged(column));
    columns.push_back({column.name, joining, attributes.Number("pad_value")});
  }
  HEADRACE_RETURN_IF_ERROR(SetPadding(attributes, columns, input));
  return columns;
}

absl::StatusOr<std::vector<BatchColumn>> PaddedColumns(const ir::Attributes& attributes, const ir::Schema& input) {
  std::vector<BatchColumn> columns;
  for (const ir::Column& column : input.columns) {
    columns.push_back({column.name, Joining::kPad, attributes.Number("pad_value")});
  }
  HEADRACE_RETURN_IF_ERROR(SetPadding(attributes, columns, input));
  return columns;
}

absl::StatusOr<ir::Schema> BatchSchema(const std::vector<BatchColumn>& columns, int64_t rows, const ir::Schema& input) {
  const int64_t ends = rows == ir::kUnknownDim ? rows : rows + 1;
  ir::Schema schema;
  for (size_t i = 0; i < columns.size(); ++i) {
    const BatchColumn& column = columns[i];
    ir::ColumnType type = input.columns[i].type;
    const bool ragged = IsRagged(column.joining);
    if (type.shape.has_value() && ragged) type.shape->front() = ir::kUnknownDim;
    if (type.shape.has_value() && !ragged) type.shape->insert(type.shape->begin(), rows);
    schema.columns.push_back({column.name, std::move(type)});
    if (!ragged) continue;
    const std::string name =
        column.joining == Joining::kList ? ir::ListSplitsName(column.name) : SplitsName(column.name);
    if (input.IndexOf(name) >= 0) {
      return GraphError("the splits of column \"", column.name, "\" are to be column \"", name,
                        "\", and there is a column of that name; rename one of the two");
    }
    ir::ColumnType splits = ir::ColumnType::Of(DType::kInt64, {ends});
    splits.ragged = true;
    schema.columns.push_back({name, std::move(splits)});
  }
  return schema;
}

std::vector<ir::ColumnSet> BatchReads(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                      const ir::ColumnSet& wanted) {
  ir::ColumnSet reads;
  for (const auto& named : attributes.Pairs("ragged_columns")) reads.insert(named.first);
  for (const std::string& name : attributes.Strings("pad_columns")) reads.insert(name);
  for (const ir::Column& column : inputs[0].columns) {
    const bool read = wanted.count(column.name) > 0 || wanted.count(SplitsName(column.name)) > 0 ||
                      wanted.count(ir::ListSplitsName(column.name)) > 0;
    if (read) reads.insert(column.name);
  }
  return {reads};
}

void AddPadValues(std::vector<ir::Attribute>& attributes) {
  attributes.push_back({.name = "pad_value",
                        .type = ir::AttributeType::kFloat,
                        .doc = "What padding is filled with; texts and bytes are padded with empty ones.",
                        .default_value = "0.0",
                        .keeps_whole = true});
  attributes.push_back({.name = "pad_columns",
                        .type = ir::AttributeType::kStrings,
                        .doc = "Columns with a padding of their own.",
                        .default_value = "()",
                        .length = ir::ListLength{.least = 0},
                        .hidden = true});
  attributes.push_back({.name = "pad_values",
                        .type = ir::AttributeType::kFloats,
                        .doc = "Their padding, in that order.",
                        .default_value = "()",
                        .length = ir::ListLength{.least = 0},
                        .keeps_whole = true,
                        .hidden = true});
}

void AddJoiningAttributes(std::vector<ir::Attribute>& attributes) {
  attributes.push_back({.name = "pad",
                        .type = ir::AttributeType::kBool,
                        .doc = "Short for `ragged=\"pad\"`.",
                        .default_value = "False"});
  AddPadValues(attributes);
  attributes.push_back({.name = "ragged",
                        .type = ir::AttributeType::kString,
                        .doc = "How columns are joined whose first axis is not known; None: rows must agree.",
                        .default_value = "None",
                        .nullable = true,
                        .choices = {"list", "splits"},
                        .hidden = true});
  attributes.push_back({.name = "ragged_columns",
                        .type = ir::AttributeType::kPairs,
                        .doc = "How columns that are named are joined: \"list\", \"pad\" or \"splits\".",
                        .default_value = "{}",
                        .hidden = true});
}

absl::Status RefuseJoining(const ir::Attributes& attributes) {
  const bool joins = attributes.Bool("pad") || !attributes.IsNone("ragged") ||
                     !attributes.Pairs("ragged_columns").empty() || !attributes.Strings("pad_columns").empty();
  if (!joins) return absl::OkStatus();
  return GraphError("pad and ragged are for rows that are joined here; with function=, let the function join them");
}

}  // namespace headrace
