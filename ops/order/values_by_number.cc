#include "ops/order/values_by_number.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_join.h"
#include "core/buffer.h"
#include "core/error.h"
#include "core/seeded_hash.h"
#include "core/stop_signal.h"
#include "core/text.h"
#include "engine/operator/failed_row.h"
#include "ops/order/drawn_order.h"

namespace headrace {
namespace {

constexpr std::string_view kColumn = "column";
constexpr std::string_view kFollowsRows = "follows_rows";
constexpr uint64_t kValuesByNumberMostRows = std::numeric_limits<uint32_t>::max();
// What a label that no row before had takes beside its bytes.
constexpr uint64_t kBytesOfLabel = 128;
constexpr size_t kLongestLabel = 4096;

// How many rows to read in one call: few where a row takes much, as the one of a record that is read whole.
class RowsAtOnce {
 public:
  uint64_t rows() const { return rows_; }
  // After a call in which `peak` bytes of buffers were alive at once.
  void Learn(int64_t peak) {
    const auto fitting = static_cast<uint64_t>(kBytes / std::max<int64_t>(peak, 1)) * rows_;
    rows_ = std::clamp<uint64_t>(fitting, rows_ / 8, rows_ * 2);
    rows_ = std::clamp<uint64_t>(rows_, 1, kMost);
  }

 private:
  static constexpr int64_t kBytes = 4 << 20;
  static constexpr uint64_t kMost = 256;
  uint64_t rows_ = 4;
};

// Reads blocks of rows, and measures the buffers that this takes.
class BlockReader {
 public:
  explicit BlockReader(const IndexedSource& values) : values_(values), account_(MemoryAccount::Open()) {}
  ~BlockReader() { account_->Close(); }
  BlockReader(const BlockReader&) = delete;

  // The next rows from `first` on.
  absl::Status Read(uint64_t first, Block& block) {
    if (StopSignal::Raised()) return StopSignal::Error();
    positions_.resize(std::min(at_once_.rows(), values_.size() - first));
    std::iota(positions_.begin(), positions_.end(), first);
    const TaskMemory memory(&BufferPool::Current(), account_, 0);
    absl::Status status = values_.ReadRows({0, positions_}, block);
    at_once_.Learn(memory.peak());
    return status;
  }

 private:
  const IndexedSource& values_;
  MemoryAccount* const account_;
  RowsAtOnce at_once_;
  std::vector<uint64_t> positions_;
};

// Calls `take` with the value of each row, in order; with null for a row that fails, if such rows are left out.
template <typename Take>
absl::Status ReadValues(const OpArguments& arguments, const IndexedSource& values, Take take) {
  // Nobody begins it, and it would have other rows in other epochs.
  if (values.properties().begins) {
    return GraphError(
        "takes a value for each row from an order that begins anew in each epoch; give a list or an array");
  }
  const auto column = static_cast<size_t>(arguments.inputs[1].IndexOf(arguments.attributes.String(kColumn)));
  BlockReader reader(values);
  for (uint64_t first = 0; first < values.size();) {
    Block block;
    const absl::Status failed = reader.Read(first, block);
    for (int row = 0; row < block.rows(); ++row) {
      const Tensor value = block.columns[column].row(row);
      HEADRACE_RETURN_IF_ERROR(take(&value));
    }
    first += static_cast<uint64_t>(block.rows());
    if (failed.ok()) continue;
    if (!arguments.run->skip_failed || !IsOfOneRow(failed)) return failed;
    HEADRACE_RETURN_IF_ERROR(take(nullptr));
    ++first;
  }
  return absl::OkStatus();
}

absl::Status CheckCount(const OpArguments& arguments, const IndexedSource& input, const IndexedSource& values,
                        std::string_view what) {
  const uint64_t rows = input.size();
  if (rows == 0) return GraphError("its input has no rows to draw from");
  if (rows > kValuesByNumberMostRows)
    return UnsupportedError("draws from at most ", kValuesByNumberMostRows, " rows; there are ", rows);
  if (values.size() != rows && !FollowsRows(arguments)) {
    const std::string advice = values.size() == input.numbers()
                                   ? Cat("; those of the source's rows follow them where they are a column of it")
                                   : "";
    return GraphError("its input has ", rows, " rows; give one of the ", what, " for each, not ", values.size(),
                      advice);
  }
  return CheckOrderFits({.positions = DrawnRows(arguments, rows), .input_rows = rows, .memory = arguments.run->memory});
}

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

std::string_view BytesIn(const Tensor& value) {
  if (IsVariableLength(value.dtype())) return value.bytes_value();
  return {reinterpret_cast<const char*>(value.raw()), ItemSize(value.dtype())};
}

// Numbers labels as they first occur, within the budget.
class Labels {
 public:
  explicit Labels(const OpArguments& arguments) : arguments_(arguments) {}

  uint64_t count() const { return numbers_.size(); }

  absl::StatusOr<uint32_t> NumberOf(std::string_view label, size_t row) {
    if (label.size() > kLongestLabel) {
      return GraphError("takes its labels from the column \"", arguments_.attributes.String(kColumn),
                        "\", but a label has at most ", kLongestLabel,
                        " bytes; name the column of the labels, not one of contents such as the ", label.size(),
                        " bytes of row ", row);
    }
    const auto [found, is_new] = numbers_.try_emplace(std::string(label), static_cast<uint32_t>(numbers_.size()));
    if (is_new) HEADRACE_RETURN_IF_ERROR(Count(kBytesOfLabel + label.size()));
    return found->second;
  }

 private:
  absl::Status Count(uint64_t bytes) {
    bytes_ += bytes;
    const int64_t memory = arguments_.run->memory;
    if (bytes_ <= static_cast<uint64_t>(memory)) return absl::OkStatus();
    return ResourceError(
        "has too many different labels for the budget; name the column of the labels, or set memory= "
        "to more than ",
        memory, " bytes, which ", numbers_.size(), " of them take");
  }

  const OpArguments& arguments_;
  std::unordered_map<std::string, uint32_t, SeededHash> numbers_;
  uint64_t bytes_ = 0;
};

}  // namespace

ir::Attribute DeclareValuesColumn() {
  return {.name = std::string(kColumn),
          .type = ir::AttributeType::kString,
          .doc = "The column of the second input that has the values.",
          .hidden = true};
}

ir::Attribute DeclareFollowsRows() {
  return {.name = std::string(kFollowsRows),
          .type = ir::AttributeType::kBool,
          .doc = "Whether values are by the rows' numbers in the sources, and follow them through the orders below.",
          .default_value = "False",
          .hidden = true};
}

bool FollowsRows(const OpArguments& arguments) { return arguments.attributes.Bool(kFollowsRows); }

absl::StatusOr<ir::Schema> InferWithValues(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                           std::string_view what, bool or_texts) {
  const std::string& name = attributes.String(kColumn);
  const ir::Column* const column = inputs[1].Find(name);
  if (column == nullptr) {
    return GraphError("takes its ", what, " from the column \"", name,
                      "\", which the source does not have; name one of its columns (",
                      absl::StrJoin(inputs[1].Names(), ", "), "), or give the ", what);
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

absl::StatusOr<std::vector<double>> ReadNumbers(const OpArguments& arguments, const IndexedSource& input,
                                                const IndexedSource& values, std::string_view what) {
  HEADRACE_RETURN_IF_ERROR(CheckCount(arguments, input, values, what));
  std::vector<double> numbers;
  numbers.reserve(values.size());
  HEADRACE_RETURN_IF_ERROR(ReadEachNumber(arguments, values, [&](double number) {
    numbers.push_back(number);
    return absl::OkStatus();
  }));
  return numbers;
}

absl::Status ReadEachNumber(const OpArguments& arguments, const IndexedSource& values,
                            absl::FunctionRef<absl::Status(double number)> take) {
  return ReadValues(arguments, values,
                    [&](const Tensor* value) { return take(value == nullptr ? 0 : NumberIn(*value)); });
}

Classes::Classes(absl::Span<const uint32_t> class_of) {
  for (const uint32_t number : class_of) {
    if (number == kNoClass) continue;
    if (number >= ends_.size()) ends_.resize(number + size_t{1});
    ++ends_[number];
  }
  std::vector<uint64_t> next(ends_.size());
  std::exclusive_scan(ends_.begin(), ends_.end(), next.begin(), uint64_t{0});
  std::inclusive_scan(ends_.begin(), ends_.end(), ends_.begin());
  members_.resize(ends_.empty() ? 0 : ends_.back());
  for (uint32_t row = 0; row < class_of.size(); ++row) {
    if (class_of[row] != kNoClass) members_[next[class_of[row]]++] = row;
  }
  // A class without rows ends where the one before it does.
  ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
  if (!ends_.empty() && ends_[0] == 0) ends_.erase(ends_.begin());
}

absl::StatusOr<std::vector<uint32_t>> ReadClasses(const OpArguments& arguments, const IndexedSource& input,
                                                  const IndexedSource& values) {
  HEADRACE_RETURN_IF_ERROR(CheckCount(arguments, input, values, "labels"));
  Labels labels(arguments);
  std::vector<uint32_t> class_of;
  class_of.reserve(values.size());
  HEADRACE_RETURN_IF_ERROR(ReadValues(arguments, values, [&](const Tensor* value) -> absl::Status {
    if (value == nullptr) {
      class_of.push_back(Classes::kNoClass);
      return absl::OkStatus();
    }
    HEADRACE_ASSIGN_OR_RETURN(const uint32_t number, labels.NumberOf(BytesIn(*value), class_of.size()));
    class_of.push_back(number);
    return absl::OkStatus();
  }));
  if (labels.count() == 0) return DataError("has no row to draw: all labels failed to be read");
  return class_of;
}

}  // namespace headrace
