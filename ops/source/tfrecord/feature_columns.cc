#include "ops/source/tfrecord/feature_columns.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/utf8.h"
#include "io/formats/tfrecord/feature_finder.h"
#include "io/formats/tfrecord/feature_values.h"
#include "io/formats/tfrecord/tf_record_frame.h"
#include "ops/source/item_columns.h"
#include "ops/source/shown_text.h"
#include "ops/source/tfrecord/feature_shape.h"

namespace headrace {
namespace {

// A message that has so many bytes of one block ends with it: its byte strings are then views in one table.
constexpr size_t kManyFeatureBytes = size_t{64} << 10;
// Names of features in a message of an error.
constexpr size_t kMostNames = 12;

// A record whose values are added.
struct RecordBytes {
  std::string_view content;
  const BufferRef* buffer = nullptr;  // holds them until the message is taken
  size_t share = 0;                   // see Item
};

// Where the value of a row ends among those of the message, and its axes that differ from row to row.
struct RowExtent {
  size_t end = 0;
  int64_t axes[2] = {0, 0};
};

// The values of one column of the message that is made.
class FeatureColumn {
 public:
  FeatureColumn(ir::Column column, std::optional<FeatureFill> fill)
      : column_(std::move(column)),
        fill_(std::move(fill)),
        differs_(std::count(column_.type.shape->begin(), column_.type.shape->end(), ir::kUnknownDim) > 0),
        ragged_(differs_ &&
                std::count(column_.type.shape->begin() + 1, column_.type.shape->end(), ir::kUnknownDim) == 0) {}
  virtual ~FeatureColumn() = default;

  const ir::Column& column() const { return column_; }
  // Adds a row: the values of an entry, or what stands for a feature that is not there.
  absl::Status Add(const FeatureValues& values, const RecordBytes& record) {
    Shape shape;
    HEADRACE_RETURN_IF_ERROR(FitFeature(column_, values, shape));
    HEADRACE_RETURN_IF_ERROR(AddValues(values, record));
    AddRow(shape, values.count());
    return absl::OkStatus();
  }
  // Nullopt: nothing stands for it.
  std::optional<absl::Status> AddMissing() {
    if (fill_.has_value()) {
      const size_t count = KnownElements(fill_->shape);
      HEADRACE_RETURN_IF_ERROR(AddFill(*fill_, count));
      AddRow(fill_->shape, count);
      return absl::OkStatus();
    }
    const Shape& declared = *column_.type.shape;
    if (declared.empty() || declared[0] != ir::kUnknownDim) return std::nullopt;
    Shape none = declared;
    std::replace(none.begin(), none.end(), ir::kUnknownDim, int64_t{0});
    AddRow(none, 0);
    return absl::OkStatus();
  }
  // Drops rows after the first `rows`.
  void Truncate(size_t rows) {
    rows_ = std::min(rows_, rows);
    if (differs_) {
      extents_.resize(rows_);
      filled_ = rows_ == 0 ? 0 : extents_.back().end;
    } else {
      filled_ = rows_ * KnownElements(*column_.type.shape);
    }
    DropValues(filled_);
  }
  absl::StatusOr<BlockColumn> Take() {
    absl::StatusOr<BlockColumn> taken = TakeRows();
    last_filled_ = std::exchange(filled_, 0);
    rows_ = 0;
    extents_.clear();
    return taken;
  }

 protected:
  DType dtype() const { return column_.type.dtype; }
  bool differs() const { return differs_; }
  // Whether there are several rows, which differ in their first axis alone.
  bool ragged() const { return ragged_ && rows_ > 1; }
  size_t rows() const { return rows_; }
  size_t filled() const { return filled_; }
  // Values of the message before.
  size_t last_filled() const { return last_filled_; }
  // Of all rows together, where they have one shape.
  Shape StackShape() const {
    Shape shape = *column_.type.shape;
    shape.insert(shape.begin(), static_cast<int64_t>(rows_));
    return shape;
  }
  // Of all values of ragged rows, end to end.
  Shape RaggedShape() const {
    Shape shape = *column_.type.shape;
    shape[0] = 0;
    for (const RowExtent& extent : extents_) shape[0] += extent.axes[0];
    return shape;
  }
  absl::StatusOr<BlockColumn> RaggedOf(absl::StatusOr<Tensor> values) const {
    HEADRACE_RETURN_IF_ERROR(values.status());
    HEADRACE_ASSIGN_OR_RETURN(Tensor splits, Tensor::Allocate(DType::kInt64, {static_cast<int64_t>(rows_) + 1}));
    auto* split = splits.mutable_data<int64_t>();
    *split = 0;
    for (const RowExtent& extent : extents_) {
      split[1] = split[0] + extent.axes[0];
      ++split;
    }
    return BlockColumn::Ragged(*std::move(values), std::move(splits));
  }
  // Calls take(first value, shape) for each row of a shape of its own.
  template <typename Take>
  void ForEachRow(Take take) const {
    size_t begin = 0;
    Shape shape = *column_.type.shape;
    for (const RowExtent& extent : extents_) {
      for (size_t axis = 0; axis < std::min<size_t>(2, shape.size()); ++axis) shape[axis] = extent.axes[axis];
      take(begin, shape);
      begin = extent.end;
    }
  }

 private:
  virtual absl::Status AddValues(const FeatureValues& values, const RecordBytes& record) = 0;
  virtual absl::Status AddFill(const FeatureFill& fill, size_t count) = 0;
  virtual void DropValues(size_t filled) = 0;
  virtual absl::StatusOr<BlockColumn> TakeRows() = 0;

  void AddRow(const Shape& shape, size_t count) {
    filled_ += count;
    ++rows_;
    if (!differs_) return;
    extents_.push_back({filled_, {shape[0], shape.size() > 1 ? shape[1] : 0}});
  }

  const ir::Column column_;
  const std::optional<FeatureFill> fill_;
  const bool differs_;
  const bool ragged_;
  size_t rows_ = 0;
  size_t filled_ = 0;
  size_t last_filled_ = 0;
  std::vector<RowExtent> extents_;
};

// T: int64_t or float.
template <typename T>
class NumberFeature : public FeatureColumn {
 public:
  using FeatureColumn::FeatureColumn;

 private:
  absl::Status MakeRoom(size_t count) {
    const size_t wanted = filled() + count;
    if (numbers_ && wanted * sizeof(T) <= numbers_->capacity()) return absl::OkStatus();
    const size_t usual = numbers_ ? 2 * filled() : last_filled();
    BufferRef grown = BufferPool::Current().Allocate(std::max(wanted, usual) * sizeof(T));
    if (!grown) return ResourceError("no memory for ", wanted, " values of \"", column().name, "\"");
    if (filled() > 0) std::memcpy(grown->data(), numbers_->data(), filled() * sizeof(T));
    numbers_ = std::move(grown);
    return absl::OkStatus();
  }
  T* next() const { return reinterpret_cast<T*>(numbers_->data()) + filled(); }

  absl::Status AddValues(const FeatureValues& values, const RecordBytes& /*record*/) override {
    HEADRACE_RETURN_IF_ERROR(MakeRoom(values.count()));
    if constexpr (std::is_same_v<T, float>) {
      values.CopyFloats(next());
    } else {
      std::copy(values.ints().begin(), values.ints().end(), next());
    }
    return absl::OkStatus();
  }
  absl::Status AddFill(const FeatureFill& fill, size_t count) override {
    HEADRACE_RETURN_IF_ERROR(MakeRoom(count));
    const std::vector<T>& values = [&]() -> const std::vector<T>& {
      if constexpr (std::is_same_v<T, float>) {
        return fill.floats;
      } else {
        return fill.ints;
      }
    }();
    if (values.size() == count) {
      std::copy(values.begin(), values.end(), next());
    } else {
      std::fill_n(next(), count, values[0]);
    }
    return absl::OkStatus();
  }
  void DropValues(size_t /*filled*/) override {}
  absl::StatusOr<BlockColumn> TakeRows() override {
    // Rows without a value may have needed no memory.
    HEADRACE_RETURN_IF_ERROR(MakeRoom(0));
    const BufferRef numbers = std::exchange(numbers_, {});
    const T* const values = reinterpret_cast<const T*>(numbers->data());
    if (!differs()) return BlockColumn::Stacked(Tensor::View(dtype(), StackShape(), numbers, values));
    if (ragged()) return RaggedOf(Tensor::View(dtype(), RaggedShape(), numbers, values));
    BlockColumn column;
    ForEachRow([&](size_t first, const Shape& shape) {
      column.Append(Tensor::View(dtype(), shape, numbers, values + first));
    });
    return column;
  }

  BufferRef numbers_;
};

// Texts, and lists of byte strings: copied into one buffer.
class TextFeature : public FeatureColumn {
 public:
  using FeatureColumn::FeatureColumn;

 private:
  absl::Status AddValues(const FeatureValues& values, const RecordBytes& /*record*/) override {
    for (const std::string_view text : values.texts()) {
      if (dtype() == DType::kString && !IsUtf8(text)) {
        return DataError("\"", column().name, "\" is not UTF-8: ", ShownText(text),
                         "; read it as bytes: state features={\"", column().name,
                         "\": ", FeatureTypeText(DType::kBytes, *column().type.shape), ", …}");
      }
      texts_.push_back(text);
    }
    return absl::OkStatus();
  }
  absl::Status AddFill(const FeatureFill& fill, size_t count) override {
    for (size_t i = 0; i < count; ++i) texts_.emplace_back(fill.texts[fill.texts.size() == count ? i : 0]);
    return absl::OkStatus();
  }
  void DropValues(size_t filled) override { texts_.resize(filled); }
  absl::StatusOr<BlockColumn> TakeRows() override {
    const Shape shape = ragged()    ? RaggedShape()
                        : differs() ? Shape{static_cast<int64_t>(texts_.size())}
                                    : StackShape();
    absl::StatusOr<Tensor> joined = Tensor::CopyBytesArray(dtype(), shape, texts_);
    texts_.clear();
    HEADRACE_RETURN_IF_ERROR(joined.status());
    if (!differs()) return BlockColumn::Stacked(*std::move(joined));
    if (ragged()) return RaggedOf(std::move(joined));
    BlockColumn column;
    ForEachRow([&](size_t first, const Shape& row) {
      const auto begin = static_cast<int64_t>(first);
      column.Append(joined->Slice(0, begin, ElementCount(row)).Reshape(row));
    });
    return column;
  }

  std::vector<std::string_view> texts_;  // of the message's records, or of the fill
};

// One byte string a row, such as an image: views of the block that it was read in, where that is worth it.
class BytesFeature : public FeatureColumn {
 public:
  BytesFeature(ir::Column column, std::optional<FeatureFill> fill)
      : FeatureColumn(std::move(column), std::move(fill)) {}

 private:
  absl::Status AddValues(const FeatureValues& values, const RecordBytes& record) override {
    items_.push_back({0, nullptr, record.buffer, values.texts()[0], record.share});
    return absl::OkStatus();
  }
  absl::Status AddFill(const FeatureFill& fill, size_t /*count*/) override {
    if (!fill_bytes_) {
      HEADRACE_ASSIGN_OR_RETURN(const Tensor copied, Tensor::CopyBytes(DType::kBytes, fill.texts[0]));
      fill_bytes_ = copied.buffer();
    }
    const char* const bytes = reinterpret_cast<const char*>(fill_bytes_->data());
    items_.push_back({0, nullptr, &fill_bytes_, {bytes, fill.texts[0].size()}, 1});
    return absl::OkStatus();
  }
  void DropValues(size_t filled) override { items_.resize(filled); }
  absl::StatusOr<BlockColumn> TakeRows() override {
    absl::StatusOr<BlockColumn> column = BytesColumn(items_);
    items_.clear();
    return column;
  }

  std::vector<Item> items_;
  BufferRef fill_bytes_;
};

std::unique_ptr<FeatureColumn> MakeFeatureColumn(ir::Column column, std::optional<FeatureFill> fill) {
  const DType dtype = column.type.dtype;
  if (dtype == DType::kInt64) return std::make_unique<NumberFeature<int64_t>>(std::move(column), std::move(fill));
  if (dtype == DType::kFloat32) return std::make_unique<NumberFeature<float>>(std::move(column), std::move(fill));
  const bool single = dtype == DType::kBytes && column.type.shape->empty();
  if (single) return std::make_unique<BytesFeature>(std::move(column), std::move(fill));
  return std::make_unique<TextFeature>(std::move(column), std::move(fill));
}

std::vector<std::string> NamesOf(const ir::Columns& columns) {
  std::vector<std::string> names;
  for (const ir::Column& column : columns) names.push_back(column.name);
  return names;
}

// Holds the blocks of the records of a message, of which its columns have views.
class HeldBlocks {
 public:
  // Whether a block's records go with those that were added before.
  bool Joins(const RecordBlock& block) const {
    return held_.empty() || held_.back().get() == block.buffer.get() || held_.size() > 1 || bytes_ < kManyFeatureBytes;
  }
  const BufferRef* Hold(const RecordBlock& block) {
    if (held_.empty() || held_.back().get() != block.buffer.get()) held_.push_back(block.buffer);
    return &held_.back();
  }
  void Count(size_t bytes) { bytes_ += bytes; }
  void Clear() {
    held_.clear();
    bytes_ = 0;
  }

 private:
  std::deque<BufferRef> held_;
  size_t bytes_ = 0;  // of the records
};

class FeatureColumns : public RecordColumns {
 public:
  FeatureColumns(const ir::Columns& columns, std::vector<std::optional<FeatureFill>> fills, PayloadCrc crc)
      : crc_(crc), finder_(NamesOf(columns)), found_(columns.size()) {
    for (size_t i = 0; i < columns.size(); ++i) {
      columns_.push_back(MakeFeatureColumn(columns[i], std::move(fills[i])));
    }
  }

  bool Joins(const RecordBlock& block) const override { return blocks_.Joins(block); }

  size_t Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) override {
    const BufferRef* const buffer = blocks_.Hold(block);
    for (size_t i = 0; i < count; ++i) {
      const std::string_view content = block.content(first + i * step);
      wrong = AddRecord({content, buffer, std::max<size_t>(1, step * content.size())});
      if (!wrong.ok()) {
        for (const auto& column : columns_) column->Truncate(rows_);
        return i;
      }
      blocks_.Count(content.size());
      ++rows_;
    }
    return count;
  }

  absl::Status Take(Block& block) override {
    absl::Status taken;
    for (const auto& column : columns_) {
      absl::StatusOr<BlockColumn> made = column->Take();
      if (taken.ok()) taken = made.status();
      if (taken.ok()) block.columns.push_back(*std::move(made));
    }
    rows_ = 0;
    blocks_.Clear();
    if (!taken.ok()) block.columns.clear();
    return taken;
  }

 private:
  absl::Status AddRecord(const RecordBytes& record) {
    if (crc_ == PayloadCrc::kCheck) HEADRACE_RETURN_IF_ERROR(CheckTfPayload(record.content));
    HEADRACE_RETURN_IF_ERROR(finder_.Find(record.content, absl::MakeSpan(found_)));
    for (size_t i = 0; i < columns_.size(); ++i) {
      HEADRACE_RETURN_IF_ERROR(AddFeature(found_[i], record, *columns_[i]));
    }
    return absl::OkStatus();
  }

  absl::Status AddFeature(const FeatureEntry& entry, const RecordBytes& record, FeatureColumn& column) {
    if (entry.there) {
      const char* const damage = values_.Read(entry);
      if (damage != nullptr) return NotAnExample(record.content, damage);
      const bool missing = !entry.is_list && values_.kind() == FeatureKind::kNone;
      if (!missing) return column.Add(values_, record);
    }
    const std::optional<absl::Status> added = column.AddMissing();
    return added.has_value() ? *added : Missing(column.column(), entry.there, record.content);
  }

  static absl::Status Missing(const ir::Column& column, bool there, std::string_view record) {
    const DType dtype = column.type.dtype;
    const std::string_view fill = dtype == DType::kBytes ? "b\"\"" : dtype == DType::kString ? "\"\"" : "0";
    const std::string advice = Cat("; say what stands for it, such as features={\"", column.name,
                                   "\": ", FeatureTypeText(dtype, *column.type.shape, fill), ", …}");
    if (there) return DataError("the record's feature \"", column.name, "\" has no values of any kind", advice);
    std::string names;
    size_t count = 0;
    const auto list = [&](std::string_view name, const FeatureEntry& /*entry*/) {
      if (++count <= kMostNames) Append(names, count == 1 ? "" : ", ", ShownText(name));
    };
    HEADRACE_RETURN_IF_ERROR(ForEachFeature(record, list));
    if (count > kMostNames) Append(names, " and ", count - kMostNames, " more");
    return DataError("the record has no feature \"", column.name, "\"", advice, "; it has ",
                     names.empty() ? "none" : names);
  }

  const PayloadCrc crc_;
  FeatureFinder finder_;
  std::vector<FeatureEntry> found_;
  FeatureValues values_;
  std::vector<std::unique_ptr<FeatureColumn>> columns_;
  HeldBlocks blocks_;
  size_t rows_ = 0;
};

class PayloadColumn : public RecordColumns {
 public:
  explicit PayloadColumn(PayloadCrc crc) : crc_(crc) {}

  bool Joins(const RecordBlock& block) const override { return blocks_.Joins(block); }

  size_t Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) override {
    const BufferRef* const buffer = blocks_.Hold(block);
    for (size_t i = 0; i < count; ++i) {
      const std::string_view content = block.content(first + i * step);
      if (crc_ == PayloadCrc::kCheck) wrong = CheckTfPayload(content);
      if (!wrong.ok()) return i;
      items_.push_back({0, nullptr, buffer, content, std::max<size_t>(1, step * content.size())});
      blocks_.Count(content.size());
    }
    return count;
  }

  absl::Status Take(Block& block) override {
    absl::StatusOr<BlockColumn> column = BytesColumn(items_);
    items_.clear();
    blocks_.Clear();
    if (column.ok()) block.columns.push_back(*std::move(column));
    return column.status();
  }

 private:
  const PayloadCrc crc_;
  std::vector<Item> items_;
  HeldBlocks blocks_;
};

}  // namespace

std::unique_ptr<RecordColumns> MakeFeatureColumns(ir::Columns columns, std::vector<std::optional<FeatureFill>> fills,
                                                  PayloadCrc crc) {
  return std::make_unique<FeatureColumns>(columns, std::move(fills), crc);
}

std::unique_ptr<RecordColumns> MakePayloadColumn(PayloadCrc crc) { return std::make_unique<PayloadColumn>(crc); }

}  // namespace headrace
