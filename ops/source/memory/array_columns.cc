#include "ops/source/memory/array_columns.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/hash.h"

namespace headrace {
namespace {

// Arrays up to this size are hashed completely; of larger ones, evenly spread samples.
constexpr size_t kHashedWhole = 1 << 20;
constexpr size_t kHashedRun = 256;

uint64_t HashElements(const Tensor& array, uint64_t hash) {
  if (IsVariableLength(array.dtype())) {
    const int64_t count = array.elements();
    const int64_t step = std::max<int64_t>(1, count / static_cast<int64_t>(kHashedWhole / kHashedRun));
    for (int64_t i = 0; i < count; i += step) hash = HashBytes(array.bytes_at(i), hash);
    return hash;
  }
  const char* bytes = reinterpret_cast<const char*>(array.raw());
  if (array.bytes() <= kHashedWhole) return HashBytes({bytes, array.bytes()}, hash);
  const size_t step = array.bytes() / (kHashedWhole / kHashedRun);
  for (size_t at = 0; at + kHashedRun <= array.bytes(); at += step) hash = HashBytes({bytes + at, kHashedRun}, hash);
  return HashBytes({bytes + array.bytes() - kHashedRun, kHashedRun}, hash);
}

std::string_view BytesOfSplits(const std::vector<int64_t>& splits) {
  return {reinterpret_cast<const char*>(splits.data()), splits.size() * sizeof(int64_t)};
}

// The same array in a buffer that counts no bytes: the user's memory is not charged to the pipeline, and a row must not
// count as the whole array.
Tensor Uncounted(const Tensor& array) {
  if (IsVariableLength(array.dtype())) return array;
  BufferRef buffer = BufferRef::Foreign(const_cast<uint8_t*>(array.raw()), 0, [keep = array.buffer()] {});
  return Tensor::View(array.dtype(), array.shape(), std::move(buffer), array.raw());
}

using ArraysByName = std::map<std::string_view, const Tensor*>;

absl::Status NoArrayError(const ArraysByName& given, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [column, array] : given) names.emplace_back(column);
  return GraphError("the arrays given have no column \"", name, "\" (columns: ", absl::StrJoin(names, ", "), ")");
}

// The splits of an array with so many elements.
absl::StatusOr<std::vector<int64_t>> CheckedSplits(const std::string& name, const Tensor& given, int64_t elements) {
  if (given.dtype() != DType::kInt64 || given.rank() != 1 || given.dim(0) == 0) {
    return GraphError("the splits of column \"", name, "\" are ", given.TypeName(),
                      "; they must be int64 of shape (n + 1,) for n rows");
  }
  std::vector<int64_t> splits(static_cast<size_t>(given.dim(0)));
  given.CopyTo(splits.data());
  if (splits.front() != 0 || splits.back() != elements) {
    return GraphError("the splits of column \"", name, "\" go from ", splits.front(), " to ", splits.back(),
                      "; they must go from 0 to ", elements, ", the number of its values");
  }
  const auto falls = std::adjacent_find(splits.begin(), splits.end(), std::greater<>());
  if (falls == splits.end()) return splits;
  return GraphError("row ", falls - splits.begin(), " of column \"", name, "\" begins at value ", *falls,
                    " and ends at value ", *(falls + 1), "; splits must not decrease");
}

}  // namespace

Tensor ArrayColumns::Column::Row(uint64_t index) const {
  if (splits.empty()) return array.Index(static_cast<int64_t>(index));
  return array.Slice(0, splits[index], splits[index + 1] - splits[index]);
}

absl::StatusOr<ArrayColumns::Column> ArrayColumns::BindColumn(const ir::Column& column, const Tensor& given,
                                                              const Tensor* splits) {
  if (given.rank() == 0) {
    return GraphError("column \"", column.name, "\" is a single ", DTypeName(given.dtype()),
                      ": an array needs a first axis, the rows");
  }
  Column bound = {column.name, {}, {}};
  Shape row_shape(given.shape().begin() + 1, given.shape().end());
  if (splits != nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(bound.splits, CheckedSplits(column.name, *splits, given.dim(0)));
    row_shape.insert(row_shape.begin(), ir::kUnknownDim);
  }
  if (!ir::FitsType(column.type, given.dtype(), row_shape)) {
    return GraphError("column \"", column.name, "\" has rows of ",
                      ir::TypeName(ir::ColumnType::Of(given.dtype(), row_shape)), "; the graph was built for ",
                      ir::TypeName(column.type));
  }
  HEADRACE_ASSIGN_OR_RETURN(const Tensor array, given.Contiguous());
  bound.array = Uncounted(array);
  return bound;
}

absl::StatusOr<ArrayColumns> ArrayColumns::Bind(const OpArguments& arguments, const ir::Columns& columns) {
  const std::string& name = arguments.attributes.ReferenceName("arrays");
  const auto& bound = arguments.run->bindings->arrays;
  const auto found = bound.find(name);
  if (found == bound.end()) {
    return GraphError("the arrays ", name, " are not here: a graph that refers to arrays runs only where it was built");
  }
  ArraysByName given;
  for (const auto& [column, array] : found->second.columns) given.emplace(column, &array);
  std::vector<Column> made;
  for (const ir::Column& column : columns) {
    const auto array = given.find(column.name);
    if (array == given.end()) return NoArrayError(given, column.name);
    const auto splits = found->second.splits.find(column.name);
    HEADRACE_ASSIGN_OR_RETURN(
        Column each,
        BindColumn(column, *array->second, splits == found->second.splits.end() ? nullptr : &splits->second));
    if (!made.empty() && made[0].rows() != each.rows()) {
      return GraphError("columns \"", made[0].name, "\" and \"", column.name, "\" have ", made[0].rows(), " and ",
                        each.rows(), " rows; they must have equally many");
    }
    made.push_back(std::move(each));
  }
  return ArrayColumns(std::move(made));
}

bool ArrayColumns::AreSideBySide(absl::Span<const uint64_t> indices) {
  for (size_t i = 1; i < indices.size(); ++i) {
    if (indices[i] != indices[0] + i) return false;
  }
  return true;
}

// The array's own memory if the rows are side by side.
absl::StatusOr<BlockColumn> ArrayColumns::Rows(size_t column, absl::Span<const uint64_t> indices,
                                               bool side_by_side) const {
  const Tensor& array = this->array(column);
  const auto count = static_cast<int64_t>(indices.size());
  if (IsVariableLength(array.dtype()) || !columns_[column].splits.empty()) {
    BlockColumn rows;
    for (const uint64_t index : indices) rows.Append(Row(column, index));
    return rows;
  }
  if (side_by_side) return BlockColumn::Stacked(array.Slice(0, static_cast<int64_t>(indices[0]), count));
  Shape shape = array.shape();
  shape[0] = count;
  HEADRACE_ASSIGN_OR_RETURN(Tensor rows, Tensor::Allocate(array.dtype(), shape));
  const size_t bytes = rows.bytes() / indices.size();
  for (size_t i = 0; i < indices.size(); ++i) {
    std::memcpy(rows.mutable_raw() + i * bytes, array.raw() + indices[i] * bytes, bytes);
  }
  return BlockColumn::Stacked(std::move(rows));
}

uint64_t ArrayColumns::Hash() const {
  uint64_t hash = 0;
  for (const Column& column : columns_) {
    hash = HashElements(column.array, HashBytes(Cat(column.name, " ", column.array.TypeName()), hash));
    if (!column.splits.empty()) hash = HashBytes(BytesOfSplits(column.splits), hash);
  }
  return hash;
}

}  // namespace headrace
