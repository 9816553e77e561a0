#include "ops/source/memory/array_columns.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/hash.h"

namespace headrace {
namespace {

// Arrays up to this size are hashed completely; of larger ones, evenly spread samples.
constexpr size_t kHashedWhole = 1 << 20;
constexpr size_t kHashedRun = 256;

uint64_t HashOfTexts(const Tensor& texts, uint64_t hash) {
  const int64_t count = texts.elements();
  const int64_t step = std::max<int64_t>(1, count / static_cast<int64_t>(kHashedWhole / kHashedRun));
  for (int64_t i = 0; i < count; i += step) hash = HashBytes(texts.bytes_at(i), hash);
  return hash;
}

// Of so many bytes, of which `bytes_at(at, size)` gives those from `at` on.
template <typename BytesAt>
uint64_t HashOfNumbers(size_t bytes, uint64_t hash, const BytesAt& bytes_at) {
  if (bytes <= kHashedWhole) return HashBytes(bytes_at(0, bytes), hash);
  const size_t step = bytes / (kHashedWhole / kHashedRun);
  for (size_t at = 0; at + kHashedRun <= bytes; at += step) hash = HashBytes(bytes_at(at, kHashedRun), hash);
  return HashBytes(bytes_at(bytes - kHashedRun, kHashedRun), hash);
}

uint64_t HashOfTensor(const Tensor& array, uint64_t hash) {
  if (IsVariableLength(array.dtype())) return HashOfTexts(array, hash);
  const char* bytes = reinterpret_cast<const char*>(array.raw());
  return HashOfNumbers(array.bytes(), hash,
                       [bytes](size_t at, size_t size) { return std::string_view(bytes + at, size); });
}

// That of the array's row-major copy.
uint64_t HashOfStrided(const StridedArray& array, uint64_t hash) {
  std::vector<uint8_t> copied;
  return HashOfNumbers(array.bytes(), hash, [&](size_t at, size_t size) {
    copied.resize(size);
    array.CopyBytes(at, size, copied.data());
    return std::string_view(reinterpret_cast<const char*>(copied.data()), size);
  });
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

absl::Status NoArrayError(const HostArrays& given, std::string_view name) {
  std::set<std::string> names;
  for (const auto& [column, array] : given.columns) names.insert(column);
  for (const auto& [column, array] : given.strided) names.insert(column);
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

uint8_t* ArrayColumns::Column::CopyElements(int64_t begin, int64_t end, uint8_t* target) const {
  if (strided.has_value()) return strided->CopyTo(begin, end - begin, target);
  if (begin == end) return target;
  const auto step = static_cast<size_t>(array.stride(0));
  const size_t bytes = static_cast<size_t>(end - begin) * step;
  std::memcpy(target, array.raw() + static_cast<size_t>(begin) * step, bytes);
  return target + bytes;
}

absl::StatusOr<Tensor> ArrayColumns::Column::StridedRow(uint64_t index) const {
  if (!splits.empty()) return strided->Copy(splits[index], splits[index + 1] - splits[index]);
  const auto row = static_cast<int64_t>(index);
  if (strided->has_views()) return strided->View(row);
  HEADRACE_ASSIGN_OR_RETURN(const Tensor copy, strided->Copy(row, 1));
  return copy.Index(0);
}

absl::StatusOr<Tensor> ArrayColumns::Column::Row(uint64_t index) const {
  if (strided.has_value()) return StridedRow(index);
  if (splits.empty()) return array.Index(static_cast<int64_t>(index));
  return array.Slice(0, splits[index], splits[index + 1] - splits[index]);
}

absl::StatusOr<ArrayColumns::Column> ArrayColumns::FindColumn(const HostArrays& given, const std::string& name) {
  Column found = {name, {}, {}, {}};
  if (const auto strided = given.strided.find(name); strided != given.strided.end()) {
    found.strided = strided->second;
    return found;
  }
  for (const auto& [column, array] : given.columns) {
    if (column != name) continue;
    if (array.rank() == 0) {
      return GraphError("column \"", name, "\" is a single ", DTypeName(array.dtype()),
                        ": an array needs a first axis, the rows");
    }
    HEADRACE_ASSIGN_OR_RETURN(const Tensor row_major, array.Contiguous());
    found.array = Uncounted(row_major);
    return found;
  }
  return NoArrayError(given, name);
}

// `splits`: null if it is not ragged.
absl::Status ArrayColumns::CheckColumn(const ir::Column& column, const Tensor* splits, Column& found) {
  Shape row_shape(found.shape().begin() + 1, found.shape().end());
  if (splits != nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(found.splits, CheckedSplits(column.name, *splits, found.shape()[0]));
    row_shape.insert(row_shape.begin(), ir::kUnknownDim);
  }
  if (ir::FitsType(column.type, found.dtype(), row_shape)) return absl::OkStatus();
  return GraphError("column \"", column.name, "\" has rows of ",
                    ir::TypeName(ir::ColumnType::Of(found.dtype(), row_shape)), "; the graph was built for ",
                    ir::TypeName(column.type));
}

absl::StatusOr<ArrayColumns> ArrayColumns::Bind(const OpArguments& arguments, const ir::Columns& columns) {
  const std::string& name = arguments.attributes.ReferenceName("arrays");
  const auto& bound = arguments.run->bindings->arrays;
  const auto given = bound.find(name);
  if (given == bound.end()) {
    return GraphError("the arrays ", name, " are not here: a graph that refers to arrays runs only where it was built");
  }
  std::vector<Column> made;
  for (const ir::Column& column : columns) {
    HEADRACE_ASSIGN_OR_RETURN(Column each, FindColumn(given->second, column.name));
    const auto splits = given->second.splits.find(column.name);
    HEADRACE_RETURN_IF_ERROR(
        CheckColumn(column, splits == given->second.splits.end() ? nullptr : &splits->second, each));
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

// The array's own memory if it is row-major and the rows are side by side.
absl::StatusOr<Tensor> ArrayColumns::Gather(const Column& column, absl::Span<const uint64_t> indices,
                                            bool side_by_side) const {
  const auto first = static_cast<int64_t>(indices[0]);
  const auto count = static_cast<int64_t>(indices.size());
  const bool strided = column.strided.has_value();
  if (side_by_side) return strided ? column.strided->Copy(first, count) : column.array.Slice(0, first, count);
  Shape shape = column.shape();
  shape[0] = count;
  HEADRACE_ASSIGN_OR_RETURN(Tensor rows, Tensor::Allocate(column.dtype(), shape));
  uint8_t* target = rows.mutable_raw();
  if (strided) {
    for (const uint64_t index : indices) target = column.strided->CopyTo(static_cast<int64_t>(index), 1, target);
    return rows;
  }
  const size_t bytes = rows.bytes() / indices.size();
  for (const uint64_t index : indices) {
    std::memcpy(target, column.array.raw() + index * bytes, bytes);
    target += bytes;
  }
  return rows;
}

// Rows of numbers that are ragged, their values end to end; views of the array where they are so there.
absl::StatusOr<BlockColumn> ArrayColumns::GatherRagged(const Column& column, absl::Span<const uint64_t> indices,
                                                       bool side_by_side) const {
  HEADRACE_ASSIGN_OR_RETURN(Tensor splits, Tensor::Allocate(DType::kInt64, {static_cast<int64_t>(indices.size()) + 1}));
  auto* split = splits.mutable_data<int64_t>();
  *split = 0;
  for (const uint64_t index : indices) {
    split[1] = split[0] + column.splits[index + 1] - column.splits[index];
    ++split;
  }
  if (side_by_side && !column.strided.has_value()) {
    return BlockColumn::Ragged(column.array.Slice(0, column.splits[indices[0]], *split), std::move(splits));
  }
  Shape shape = column.shape();
  shape[0] = *split;
  HEADRACE_ASSIGN_OR_RETURN(Tensor values, Tensor::Allocate(column.dtype(), shape));
  uint8_t* target = values.mutable_raw();
  for (const uint64_t index : indices)
    target = column.CopyElements(column.splits[index], column.splits[index + 1], target);
  return BlockColumn::Ragged(std::move(values), std::move(splits));
}

absl::StatusOr<BlockColumn> ArrayColumns::Rows(size_t column, absl::Span<const uint64_t> indices,
                                               bool side_by_side) const {
  const Column& from = columns_[column];
  if (!IsVariableLength(from.dtype()) && from.splits.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(Tensor rows, Gather(from, indices, side_by_side));
    return BlockColumn::Stacked(std::move(rows));
  }
  if (!IsVariableLength(from.dtype()) && indices.size() > 1) return GatherRagged(from, indices, side_by_side);
  BlockColumn rows;
  for (const uint64_t index : indices) {
    HEADRACE_ASSIGN_OR_RETURN(Tensor row, from.Row(index));
    rows.Append(std::move(row));
  }
  return rows;
}

uint64_t ArrayColumns::Column::Hash(uint64_t hash) const {
  hash = HashBytes(Cat(name, " ", strided.has_value() ? strided->TypeName() : array.TypeName()), hash);
  hash = strided.has_value() ? HashOfStrided(*strided, hash) : HashOfTensor(array, hash);
  return splits.empty() ? hash : HashBytes(BytesOfSplits(splits), hash);
}

uint64_t ArrayColumns::Hash() const {
  uint64_t hash = 0;
  for (const Column& column : columns_) hash = column.Hash(hash);
  return hash;
}

}  // namespace headrace
