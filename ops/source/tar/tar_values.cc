#include "ops/source/tar/tar_values.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/utf8.h"
#include "io/formats/npy/npy_array.h"
#include "ops/source/item_columns.h"
#include "ops/source/lines/json_columns.h"
#include "ops/source/lines/number_text.h"
#include "ops/source/lines/stacked_texts.h"
#include "ops/source/shown_text.h"

namespace headrace {
namespace {

constexpr size_t kMostNamesShown = 20;

// The data of the column's field; nullopt: the sample has none of its fields.
std::optional<std::string_view> DataOf(const TarRow& row, const PlacedField& placed) {
  for (const size_t number : placed.numbers) {
    if (row.data[number].has_value()) return row.data[number];
  }
  return std::nullopt;
}

std::string_view ExampleOf(const ir::ColumnType& type) {
  if (type.dtype == DType::kBytes) return "b\"\"";
  return type.dtype == DType::kString ? "\"\"" : "0";
}

absl::Status NoField(const TarRow& row, const TarField& field) {
  std::string names;
  for (size_t i = 0; i < row.names.size(); ++i) {
    if (i == kMostNamesShown) {
      Append(names, " and ", row.names.size() - i, " more");
      break;
    }
    Append(names, i == 0 ? "" : ", ", row.names[i]);
  }
  std::string wanted;
  for (const std::string& name : field.names) Append(wanted, wanted.empty() ? "" : " or ", "\"", name, "\"");
  return DataError("the sample \"", row.key, "\" has no field ", wanted, "; it has ", names,
                   ". Leave the column out, or say what stands for the field: missing={\"", field.column.name,
                   "\": ", ExampleOf(field.column.type), "}");
}

absl::Status WrongField(const TarRow& row, const TarField& field, std::string_view what) {
  return DataError(FieldOfSample(field, row.key), " ", what);
}

std::string DeclaredType(const TarField& field) {
  return Cat("its type is ", ir::TypeName(field.column.type), ", stated by decode={…}");
}

// What `missing` gives, which was checked when the graph was.
absl::StatusOr<Tensor> ValueOfMissing(const TarField& field) {
  return ParseJsonValue("null", field.column, field.missing, {});
}

class BytesValues : public TarValues {
 public:
  explicit BytesValues(PlacedField placed) : placed_(std::move(placed)) {
    if (placed_.field.missing.has_value()) filler_ = BytesOfMissing(*placed_.field.missing);
  }

  absl::Status Read(const TarRow& row) override {
    const std::optional<std::string_view> data = DataOf(row, placed_);
    if (data.has_value()) {
      item_ = {0, nullptr, row.buffer, *data, row.share};
      return absl::OkStatus();
    }
    if (!filler_.has_value()) return NoField(row, placed_.field);
    if (!filler_buffer_) {
      filler_buffer_ = BufferPool::Current().Allocate(std::max<size_t>(1, filler_->size()));
      if (!filler_buffer_) return ResourceError("no memory for ", filler_->size(), " bytes");
      std::memcpy(filler_buffer_->data(), filler_->data(), filler_->size());
    }
    const std::string_view bytes(reinterpret_cast<const char*>(filler_buffer_->data()), filler_->size());
    item_ = {0, nullptr, &filler_buffer_, bytes, 1};
    return absl::OkStatus();
  }
  void Keep() override { items_.push_back(item_); }
  absl::Status Take(absl::Span<BlockColumn> columns) override {
    absl::StatusOr<BlockColumn> column = BytesColumn(items_);
    items_.clear();
    HEADRACE_ASSIGN_OR_RETURN(columns[placed_.place], std::move(column));
    return absl::OkStatus();
  }

 private:
  const PlacedField placed_;
  std::optional<std::string> filler_;
  BufferRef filler_buffer_;
  Item item_;
  std::vector<Item> items_;
};

// Texts: of fields, keys and paths.
class TextValues : public TarValues {
 public:
  explicit TextValues(PlacedField placed) : placed_(std::move(placed)) {}

  void Expect(size_t samples) override { texts_.Expect(samples); }
  absl::Status Read(const TarRow& row) override {
    if (placed_.field.reading == TarReading::kKey) return Put(row.key);
    if (placed_.field.reading == TarReading::kUrl) return Put(row.url);
    const std::optional<std::string_view> data = DataOf(row, placed_);
    if (!data.has_value() && !placed_.field.missing.has_value()) return NoField(row, placed_.field);
    if (!data.has_value()) {
      HEADRACE_ASSIGN_OR_RETURN(const Tensor missing, ValueOfMissing(placed_.field));
      return Put(missing.bytes_value());
    }
    if (!IsUtf8(*data))
      return WrongField(row, placed_.field, "is not UTF-8; convert it, or leave it out of decode={…}");
    return Put(*data);
  }
  void Keep() override {
    texts_.Advance(1);
    ++kept_;
  }
  absl::Status Take(absl::Span<BlockColumn> columns) override {
    columns[placed_.place] = BlockColumn::Stacked(texts_.Take({std::exchange(kept_, 0)}));
    return absl::OkStatus();
  }

 private:
  absl::Status Put(std::string_view text) {
    HEADRACE_RETURN_IF_ERROR(texts_.MakeRoom(1, text.size()));
    if (!text.empty()) std::memcpy(texts_.next(), text.data(), text.size());
    texts_.next_ends()[0] = texts_.next() - texts_.begin() + static_cast<int64_t>(text.size());
    return absl::OkStatus();
  }

  const PlacedField placed_;
  StackedTexts texts_;
  int64_t kept_ = 0;
};

// Numbers, and arrays whose shape is known: their bytes, one after the other.
class FixedValues : public TarValues {
 public:
  explicit FixedValues(PlacedField placed)
      : placed_(std::move(placed)),
        bytes_(ItemSize(placed_.field.column.type.dtype) *
               static_cast<size_t>(ElementCount(*placed_.field.column.type.shape))) {}

  void Expect(size_t samples) override { expected_ = samples; }
  absl::Status Read(const TarRow& row) override {
    const size_t filled = static_cast<size_t>(kept_) * bytes_;
    if (!GrowBuffer(buffer_, filled, std::max<size_t>(1, bytes_), std::min(kMostAtFirst, expected_ * bytes_))) {
      return ResourceError("no memory for ", kept_ + 1, " values of ", bytes_, " bytes");
    }
    uint8_t* const target = buffer_->data() + filled;
    const TarField& field = placed_.field;
    const std::optional<std::string_view> data = DataOf(row, placed_);
    if (!data.has_value() && !field.missing.has_value()) return NoField(row, field);
    if (!data.has_value()) {
      HEADRACE_ASSIGN_OR_RETURN(const Tensor missing, ValueOfMissing(field));
      missing.CopyTo(target);
      return absl::OkStatus();
    }
    return field.reading == TarReading::kNpy ? ReadArray(row, *data, target) : ReadText(row, *data, target);
  }
  void Keep() override { ++kept_; }
  absl::Status Take(absl::Span<BlockColumn> columns) override {
    Shape shape = {std::exchange(kept_, 0)};
    const ir::ColumnType& type = placed_.field.column.type;
    shape.insert(shape.end(), type.shape->begin(), type.shape->end());
    BufferRef buffer = std::exchange(buffer_, {});
    const void* const begin = buffer->data();
    columns[placed_.place] = BlockColumn::Stacked(Tensor::View(type.dtype, shape, std::move(buffer), begin));
    return absl::OkStatus();
  }

 private:
  // A long array must not make the messages after it large.
  static constexpr size_t kMostAtFirst = size_t{1} << 20;

  absl::Status ReadText(const TarRow& row, std::string_view text, void* target) const {
    constexpr std::string_view kBlanks = " \t\r\n\f\v";
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(kBlanks)));
    text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
    const TarField& field = placed_.field;
    if (ReadNumber(text, field.column.type.dtype, target)) return absl::OkStatus();
    return WrongField(row, field, Cat("is ", ShownText(text), "; ", DeclaredType(field)));
  }

  absl::Status ReadArray(const TarRow& row, std::string_view data, void* target) const {
    const TarField& field = placed_.field;
    const absl::StatusOr<NpyArray> array = ParseNpy(data);
    if (!array.ok()) return WrongField(row, field, Cat("is damaged: ", ToStd(array.status().message())));
    if (!ir::FitsType(field.column.type, array->dtype, array->shape)) {
      return WrongField(row, field,
                        Cat("is ", DTypeName(array->dtype), " ", ShapeName(array->shape), "; ", DeclaredType(field)));
    }
    CopyNpy(*array, target);
    return absl::OkStatus();
  }

  const PlacedField placed_;
  const size_t bytes_;  // of a sample
  BufferRef buffer_;
  size_t expected_ = 0;
  int64_t kept_ = 0;
};

// The rows of a column as one tensor where all have one shape.
absl::StatusOr<BlockColumn> ColumnOfTensors(std::vector<Tensor> rows, const ir::ColumnType& type) {
  const bool one_shape = type.dtype == DType::kString ? type.shape->empty() : type.fully_known();
  if (rows.size() > 1 && one_shape) {
    HEADRACE_ASSIGN_OR_RETURN(Tensor stack, Stack(rows));
    return BlockColumn::Stacked(std::move(stack));
  }
  BlockColumn column;
  for (Tensor& row : rows) column.Append(std::move(row));
  return column;
}

// Arrays whose shape differs from sample to sample, values of JSON, and the names of fields.
class TensorValuesOfSamples : public TarValues {
 public:
  explicit TensorValuesOfSamples(PlacedField placed) : placed_(std::move(placed)) {
    words_.record = "field";
    words_.stated = "stated by decode={…}";
    words_.statement = "decode={";
  }

  absl::Status Read(const TarRow& row) override {
    absl::StatusOr<Tensor> value = ValueOf(row);
    if (!value.ok()) return std::move(value).status();
    value_ = *std::move(value);
    return absl::OkStatus();
  }
  void Keep() override { values_.push_back(std::move(value_)); }
  absl::Status Take(absl::Span<BlockColumn> columns) override {
    absl::StatusOr<BlockColumn> column = ColumnOfTensors(std::exchange(values_, {}), placed_.field.column.type);
    HEADRACE_ASSIGN_OR_RETURN(columns[placed_.place], std::move(column));
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<Tensor> ValueOf(const TarRow& row) const {
    const TarField& field = placed_.field;
    if (field.reading == TarReading::kNames) {
      const std::vector<std::string_view> names(row.names.begin(), row.names.end());
      return Tensor::CopyBytesArray(DType::kString, {static_cast<int64_t>(names.size())}, names);
    }
    const std::optional<std::string_view> data = DataOf(row, placed_);
    if (!data.has_value() && field.missing.has_value()) return ValueOfMissing(field);
    if (!data.has_value()) return NoField(row, field);
    if (field.reading == TarReading::kNpy) return ArrayOf(row, *data);
    absl::StatusOr<Tensor> value = ParseJsonValue(*data, field.column, field.missing, words_);
    if (value.ok() || KindOf(value.status()) != ErrorKind::kData) return value;
    return DataError("the sample \"", row.key, "\": ", ToStd(value.status().message()));
  }

  absl::StatusOr<Tensor> ArrayOf(const TarRow& row, std::string_view data) const {
    const TarField& field = placed_.field;
    const absl::StatusOr<NpyArray> array = ParseNpy(data);
    if (!array.ok()) return WrongField(row, field, Cat("is damaged: ", ToStd(array.status().message())));
    if (!ir::FitsType(field.column.type, array->dtype, array->shape)) {
      return WrongField(row, field,
                        Cat("is ", DTypeName(array->dtype), " ", ShapeName(array->shape), "; ", DeclaredType(field)));
    }
    HEADRACE_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(array->dtype, array->shape));
    CopyNpy(*array, tensor.mutable_raw());
    return tensor;
  }

  const PlacedField placed_;
  JsonWords words_;
  Tensor value_;
  std::vector<Tensor> values_;
};

// Keys of an object, each of which is a column.
class KeyValues : public TarValues {
 public:
  explicit KeyValues(std::vector<PlacedField> placed)
      : placed_(std::move(placed)), read_(placed_.size()), values_(placed_.size()) {
    for (const PlacedField& each : placed_) {
      columns_.push_back({each.field.key, each.field.column.type});
      missing_.push_back(each.field.missing);
    }
    const TarField& first = placed_[0].field;
    const std::string field = first.column.name.substr(0, first.column.name.size() - first.key.size() - 1);
    words_.record = "field";
    words_.stated = "stated by decode={…}";
    words_.statement = Cat("decode={\"", field, "\": {");
    words_.rest = ", …}, …}";
    words_.prefix = Cat(field, ".");
  }

  absl::Status Read(const TarRow& row) override {
    std::optional<std::string_view> data = DataOf(row, placed_[0]);
    if (!data.has_value()) {
      for (const PlacedField& each : placed_) {
        if (!each.field.missing.has_value()) return NoField(row, each.field);
      }
      data = "{}";
    }
    const absl::Status parsed = ParseRow(*data, columns_, missing_, absl::MakeSpan(read_), words_);
    if (parsed.ok() || KindOf(parsed) != ErrorKind::kData) return parsed;
    return DataError(FieldOfSample(placed_[0].field, row.key), ": ", ToStd(parsed.message()));
  }
  void Keep() override {
    for (size_t i = 0; i < read_.size(); ++i) values_[i].push_back(std::move(read_[i]));
  }
  absl::Status Take(absl::Span<BlockColumn> columns) override {
    absl::Status wrong;
    for (size_t i = 0; i < values_.size(); ++i) {
      absl::StatusOr<BlockColumn> column = ColumnOfTensors(std::exchange(values_[i], {}), columns_[i].type);
      if (column.ok()) {
        columns[placed_[i].place] = *std::move(column);
      } else {
        wrong = std::move(column).status();
      }
    }
    return wrong;
  }

 private:
  const std::vector<PlacedField> placed_;
  ir::Columns columns_;  // named by the keys
  JsonMissing missing_;
  JsonWords words_;
  std::vector<Tensor> read_;
  std::vector<std::vector<Tensor>> values_;
};

}  // namespace

std::unique_ptr<TarValues> MakeTarValues(std::vector<PlacedField> fields) {
  PlacedField& first = fields[0];
  const ir::ColumnType& type = first.field.column.type;
  switch (first.field.reading) {
    case TarReading::kBytes:
      return std::make_unique<BytesValues>(std::move(first));
    case TarReading::kKey:
    case TarReading::kUrl:
      return std::make_unique<TextValues>(std::move(first));
    case TarReading::kText:
      if (type.dtype == DType::kString) return std::make_unique<TextValues>(std::move(first));
      return std::make_unique<FixedValues>(std::move(first));
    case TarReading::kNpy:
      if (type.fully_known()) return std::make_unique<FixedValues>(std::move(first));
      return std::make_unique<TensorValuesOfSamples>(std::move(first));
    case TarReading::kJson:
    case TarReading::kNames:
      return std::make_unique<TensorValuesOfSamples>(std::move(first));
    case TarReading::kJsonKey:
      break;
  }
  return std::make_unique<KeyValues>(std::move(fields));
}

}  // namespace headrace
