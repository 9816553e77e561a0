#include "ops/order/values_by_number.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_join.h"
#include "core/error.h"

namespace headrace {
namespace {

constexpr std::string_view kColumn = "column";
constexpr uint64_t kAtOnce = 4096;
constexpr uint64_t kMostRows = std::numeric_limits<uint32_t>::max();
// What the values of a row take, and a label that no row before had, at most.
constexpr uint64_t kBytesOfRow = 32;
constexpr uint64_t kBytesOfLabel = 256;

// Calls `take` with the value of each row, in order.
template <typename Take>
absl::Status ReadValues(const IndexedSource& values, int column, Take take) {
  std::vector<uint64_t> positions;
  for (uint64_t first = 0; first < values.size(); first += positions.size()) {
    positions.resize(std::min(kAtOnce, values.size() - first));
    std::iota(positions.begin(), positions.end(), first);
    Block block;
    HEADRACE_RETURN_IF_ERROR(values.ReadRows(0, positions, block));
    const BlockColumn& read = block.columns[static_cast<size_t>(column)];
    for (int row = 0; row < read.rows(); ++row) take(read.row(row));
  }
  return absl::OkStatus();
}

absl::Status CheckCount(const OpArguments& arguments, const IndexedSource& values, uint64_t rows,
                        std::string_view what) {
  if (rows == 0) return GraphError("has no rows to draw from");
  if (rows > kMostRows) return UnsupportedError("draws from at most ", kMostRows, " rows; there are ", rows);
  if (values.size() != rows) {
    return GraphError("got ", values.size(), " ", what, " for ", rows, " rows; give one for each");
  }
  if (rows <= static_cast<uint64_t>(arguments.run->memory) / kBytesOfRow) return absl::OkStatus();
  return ResourceError("keeps ", kBytesOfRow, " bytes for each of ", rows, " rows, more than the budget of ",
                       arguments.run->memory, " bytes; set memory=");
}

int ColumnOf(const OpArguments& arguments) { return arguments.inputs[1].IndexOf(arguments.attributes.String(kColumn)); }

double NumberIn(const Tensor& value) {
  switch (value.dtype()) {
    case DType::kBool:
    case DType::kUInt8:
      return value.value<uint8_t>();
    case DType::kInt8:
      return value.value<int8_t>();
    case DType::kInt16:
      return value.value<int16_t>();
    case DType::kUInt16:
      return value.value<uint16_t>();
    case DType::kInt32:
      return value.value<int32_t>();
    case DType::kUInt32:
      return value.value<uint32_t>();
    case DType::kInt64:
      return static_cast<double>(value.value<int64_t>());
    case DType::kUInt64:
      return static_cast<double>(value.value<uint64_t>());
    case DType::kFloat32:
      return value.value<float>();
    case DType::kFloat64:
      return value.value<double>();
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

bool HasNumbers(DType dtype) {
  return dtype == DType::kBool || IsInteger(dtype) || dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

std::string BytesIn(const Tensor& value) {
  if (IsVariableLength(value.dtype())) return std::string(value.bytes_value());
  return {reinterpret_cast<const char*>(value.raw()), ItemSize(value.dtype())};
}

}  // namespace

ir::Attribute DeclareValuesColumn() {
  return {.name = std::string(kColumn),
          .type = ir::AttributeType::kString,
          .doc = "The column of the second input that has the values.",
          .hidden = true};
}

absl::StatusOr<ir::Schema> InferWithValues(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                           std::string_view what, bool or_texts) {
  const std::string& name = attributes.String(kColumn);
  const ir::Column* const column = inputs[1].Find(name);
  if (column == nullptr) {
    return GraphError("takes its ", what, " from the column \"", name,
                      "\", which the source has not (columns: ", absl::StrJoin(inputs[1].Names(), ", "),
                      "); name one of these, or give the ", what);
  }
  const ir::ColumnType& type = column->type;
  const bool fits = HasNumbers(type.dtype) || (or_texts && IsVariableLength(type.dtype));
  if (!fits || !type.shape.has_value() || !type.shape->empty()) {
    return GraphError("takes its ", what, " from the column \"", name, "\", which has ", ir::TypeName(type),
                      " in each row; they must be single numbers", or_texts ? " or texts" : "");
  }
  return inputs[0];
}

std::vector<ir::ColumnSet> ReadsValues(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/,
                                       const ir::ColumnSet& wanted) {
  return {wanted, {attributes.String(kColumn)}};
}

absl::StatusOr<std::vector<double>> ReadNumbers(const OpArguments& arguments, const IndexedSource& values,
                                                uint64_t rows, std::string_view what) {
  HEADRACE_RETURN_IF_ERROR(CheckCount(arguments, values, rows, what));
  std::vector<double> numbers;
  numbers.reserve(rows);
  HEADRACE_RETURN_IF_ERROR(
      ReadValues(values, ColumnOf(arguments), [&](const Tensor& value) { numbers.push_back(NumberIn(value)); }));
  return numbers;
}

Classes::Classes(absl::Span<const uint32_t> class_of, uint64_t count) : ends_(count), members_(class_of.size()) {
  for (const uint32_t number : class_of) ++ends_[number];
  std::vector<uint64_t> next(count);
  std::exclusive_scan(ends_.begin(), ends_.end(), next.begin(), uint64_t{0});
  std::inclusive_scan(ends_.begin(), ends_.end(), ends_.begin());
  for (uint32_t row = 0; row < class_of.size(); ++row) members_[next[class_of[row]]++] = row;
}

absl::StatusOr<Classes> ReadClasses(const OpArguments& arguments, const IndexedSource& values, uint64_t rows) {
  HEADRACE_RETURN_IF_ERROR(CheckCount(arguments, values, rows, "labels"));
  const uint64_t most = static_cast<uint64_t>(arguments.run->memory) / kBytesOfLabel;
  std::unordered_map<std::string, uint32_t> numbers;
  std::vector<uint32_t> class_of;
  class_of.reserve(rows);
  HEADRACE_RETURN_IF_ERROR(ReadValues(values, ColumnOf(arguments), [&](const Tensor& value) {
    // Behind the most labels, further ones count as one: the error follows.
    auto number = static_cast<uint32_t>(numbers.size());
    const bool room = numbers.size() <= most;
    if (room) number = numbers.try_emplace(BytesIn(value), number).first->second;
    class_of.push_back(number);
  }));
  if (numbers.size() > most) {
    return ResourceError("has more than ", most, " different labels, too many for the budget of ",
                         arguments.run->memory, " bytes; are they labels? Otherwise set memory=");
  }
  return Classes(class_of, numbers.size());
}

}  // namespace headrace
