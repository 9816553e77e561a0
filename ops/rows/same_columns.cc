#include "ops/rows/same_columns.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "core/error.h"

namespace headrace {
namespace {

// The narrowest type that covers both; an error if they have nothing in common.
absl::Status Widen(const std::string& name, size_t input, const ir::ColumnType& other, ir::ColumnType& type) {
  const bool unknown = type.dtype == DType::kUnknown || other.dtype == DType::kUnknown;
  if (type.fields != other.fields || (!unknown && type.dtype != other.dtype)) {
    return GraphError("column \"", name, "\" is ", ir::TypeName(type), " in the first input and ", ir::TypeName(other),
                      " in input ", input, ": the types must be equal; cast one of them first");
  }
  if (unknown) type.dtype = DType::kUnknown;
  type.optional |= other.optional;
  type.ragged |= other.ragged;
  const bool same_rank = type.shape.has_value() && other.shape.has_value() && type.shape->size() == other.shape->size();
  if (!same_rank) {
    type.shape = std::nullopt;
    return absl::OkStatus();
  }
  for (size_t axis = 0; axis < type.shape->size(); ++axis) {
    if ((*type.shape)[axis] != (*other.shape)[axis]) (*type.shape)[axis] = ir::kUnknownDim;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ir::Schema> InferSameColumns(const ir::Attributes& /*attributes*/, absl::Span<const ir::Schema> inputs) {
  ir::Schema schema = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) {
    const bool same_count = inputs[i].columns.size() == schema.columns.size();
    for (size_t c = 0; c < schema.columns.size(); ++c) {
      const std::string& name = schema.columns[c].name;
      const ir::Column* other = inputs[i].Find(name);
      if (other == nullptr || !same_count) {
        return GraphError("the columns differ: ", absl::StrJoin(schema.Names(), ", "), " in the first input and ",
                          absl::StrJoin(inputs[i].Names(), ", "), " in input ", i,
                          "; use project or rename to make them agree");
      }
      HEADRACE_RETURN_IF_ERROR(Widen(name, i, other->type, schema.columns.type(c)));
    }
  }
  return schema;
}

std::vector<ir::ColumnSet> ReadsSameColumns(const ir::Attributes& /*attributes*/, absl::Span<const ir::Schema> inputs,
                                            const ir::ColumnSet& wanted) {
  ir::ColumnSet reads = wanted;
  if (reads.empty() && !inputs[0].columns.empty()) reads.insert(inputs[0].columns[0].name);
  return std::vector<ir::ColumnSet>(inputs.size(), reads);
}

ColumnIndices ColumnIndicesOf(const OpArguments& arguments) {
  ColumnIndices indices;
  for (const ir::Schema& input : arguments.inputs) {
    std::vector<int> of_input;
    for (const ir::Column& column : arguments.output.columns) of_input.push_back(input.IndexOf(column.name));
    indices.push_back(std::move(of_input));
  }
  return indices;
}

void Reorder(const std::vector<int>& indices, absl::InlinedVector<BlockColumn, 2>& columns) {
  if (columns.empty() || std::is_sorted(indices.begin(), indices.end())) return;
  absl::InlinedVector<BlockColumn, 2> ordered;
  for (int index : indices) ordered.push_back(std::move(columns[index]));
  columns = std::move(ordered);
}

Cardinality RowsTogether(const OpArguments& /*arguments*/, absl::Span<const Cardinality> inputs) {
  uint64_t rows = 0;
  bool known = true;
  for (const Cardinality& input : inputs) {
    if (input.kind == Cardinality::Kind::kEndless) return input;
    known = known && input.known() && !__builtin_add_overflow(rows, input.rows, &rows);
  }
  return known ? Cardinality::Of(rows) : Cardinality::Unknown();
}

std::optional<uint64_t> MostRowsTogether(const ir::Attributes& /*attributes*/,
                                         absl::Span<const std::optional<uint64_t>> inputs) {
  uint64_t sum = 0;
  for (const std::optional<uint64_t>& rows : inputs) {
    if (!rows.has_value() || __builtin_add_overflow(sum, *rows, &sum)) return std::nullopt;
  }
  return sum;
}

}  // namespace headrace
