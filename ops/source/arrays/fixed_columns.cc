#include "ops/source/arrays/fixed_columns.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/utf8.h"

namespace headrace {
namespace {

constexpr size_t kCodePointBytes = 4;
constexpr uint32_t kFirstSurrogate = 0xD800;
constexpr uint32_t kAfterSurrogates = 0xE000;
constexpr uint32_t kLastCodePoint = 0x10FFFF;

Shape ShapeOfRows(const FixedField& field, size_t rows) {
  Shape shape;
  if (rows != 1) shape.push_back(static_cast<int64_t>(rows));
  shape.insert(shape.end(), field.shape.begin(), field.shape.end());
  return shape;
}

BlockColumn ColumnOfRows(Tensor values, size_t rows) {
  return rows == 1 ? BlockColumn(std::move(values)) : BlockColumn::Stacked(std::move(values));
}

void SwapNumbers(uint8_t* values, size_t bytes, size_t value_bytes) {
  for (size_t at = 0; at < bytes; at += value_bytes) std::reverse(values + at, values + at + value_bytes);
}

std::string_view ValueAt(std::string_view row, const FixedField& field, int64_t number) {
  return row.substr(static_cast<size_t>(field.offset + number * field.value_bytes),
                    static_cast<size_t>(field.value_bytes));
}

std::string_view WithoutZeros(std::string_view bytes) {
  const size_t last = bytes.find_last_not_of('\0');
  return bytes.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

uint32_t CodePointAt(std::string_view bytes, size_t at, bool swapped) {
  uint32_t code_point;
  std::memcpy(&code_point, bytes.data() + at, sizeof(code_point));
  return swapped ? __builtin_bswap32(code_point) : code_point;
}

// False: it has what is no character.
bool AppendUtf32(std::string_view bytes, bool swapped, std::string& text) {
  size_t end = bytes.size();
  while (end > 0 && CodePointAt(bytes, end - kCodePointBytes, swapped) == 0) end -= kCodePointBytes;
  for (size_t at = 0; at < end; at += kCodePointBytes) {
    const uint32_t code_point = CodePointAt(bytes, at, swapped);
    const bool surrogate = code_point >= kFirstSurrogate && code_point < kAfterSurrogates;
    if (surrogate || code_point > kLastCodePoint) return false;
    AppendUtf8(text, code_point);
  }
  return true;
}

}  // namespace

ir::ColumnType TypeOfFixedField(const FixedField& field) { return ir::ColumnType::Of(field.dtype, field.shape); }

std::string FixedFieldText(const FixedField& field) {
  return Cat(field.name, " ", DTypeName(field.dtype), " ", ShapeName(field.shape));
}

std::vector<std::string> FixedFieldTexts(absl::Span<const FixedField> fields) {
  std::vector<std::string> texts;
  for (const FixedField& field : fields) texts.push_back(FixedFieldText(field));
  return texts;
}

FixedColumns::FixedColumns(std::shared_ptr<const FixedTable> table, std::vector<FixedPlace> places)
    : table_(std::move(table)) {
  for (const FixedPlace& place : places) parts_.push_back(place.part);
  std::sort(parts_.begin(), parts_.end());
  parts_.erase(std::unique(parts_.begin(), parts_.end()), parts_.end());
  for (const FixedPlace& place : places) {
    const auto part = std::lower_bound(parts_.begin(), parts_.end(), place.part);
    columns_.push_back({static_cast<size_t>(part - parts_.begin()), &table_->parts()[place.part].fields[place.field]});
  }
}

size_t FixedColumns::Make(absl::Span<const std::string_view> bytes, size_t rows,
                          absl::InlinedVector<BlockColumn, 2>& columns, absl::Status& wrong) const {
  // Texts alone may be damaged: the first row that is ends all columns.
  std::vector<std::vector<std::string>> texts(columns_.size());
  size_t good = rows;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    if (column.field->storage != FixedStorage::kUtf32) continue;
    const absl::Status read = ReadTexts(column, bytes.subspan(column.part * rows, good), texts[i]);
    if (read.ok()) continue;
    wrong = read;
    const auto values = static_cast<size_t>(ElementCount(column.field->shape));
    good = std::min(good, texts[i].size() / std::max<size_t>(1, values));
  }
  columns.clear();
  if (good == 0) return 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    const absl::Span<const std::string_view> of_part = bytes.subspan(column.part * rows, good);
    absl::StatusOr<BlockColumn> made;
    if (column.field->storage == FixedStorage::kNumber) {
      made = MakeNumbers(column, of_part);
    } else if (column.field->storage == FixedStorage::kUtf32) {
      const auto values = static_cast<size_t>(ElementCount(column.field->shape)) * good;
      const std::vector<std::string_view> views(texts[i].begin(),
                                                texts[i].begin() + static_cast<std::ptrdiff_t>(values));
      absl::StatusOr<Tensor> joined = Tensor::CopyBytesArray(DType::kString, ShapeOfRows(*column.field, good), views);
      made = joined.ok() ? absl::StatusOr<BlockColumn>(ColumnOfRows(*std::move(joined), good)) : joined.status();
    } else {
      made = MakeBytes(column, of_part);
    }
    if (!made.ok()) {
      wrong = std::move(made).status();
      columns.clear();
      return 0;
    }
    columns.push_back(*std::move(made));
  }
  return good;
}

absl::StatusOr<BlockColumn> FixedColumns::MakeNumbers(const Column& column,
                                                      absl::Span<const std::string_view> rows) const {
  const FixedField& field = *column.field;
  HEADRACE_ASSIGN_OR_RETURN(Tensor values, Tensor::Allocate(field.dtype, ShapeOfRows(field, rows.size())));
  uint8_t* target = values.mutable_raw();
  const auto bytes = static_cast<size_t>(field.bytes());
  for (const std::string_view row : rows) {
    if (bytes == 0) break;
    std::memcpy(target, row.data() + field.offset, bytes);
    target += bytes;
  }
  const size_t all = bytes * rows.size();
  if (field.swapped) SwapNumbers(values.mutable_raw(), all, static_cast<size_t>(field.value_bytes));
  if (field.dtype == DType::kBool) {
    // Whatever byte a file has for true.
    for (size_t i = 0; i < all; ++i) values.mutable_raw()[i] = static_cast<uint8_t>(values.mutable_raw()[i] != 0);
  }
  return ColumnOfRows(std::move(values), rows.size());
}

absl::StatusOr<BlockColumn> FixedColumns::MakeBytes(const Column& column,
                                                    absl::Span<const std::string_view> rows) const {
  const FixedField& field = *column.field;
  std::vector<std::string_view> values;
  for (const std::string_view row : rows) {
    for (int64_t i = 0; i < ElementCount(field.shape); ++i) {
      const std::string_view value = ValueAt(row, field, i);
      values.push_back(field.storage == FixedStorage::kPaddedBytes ? WithoutZeros(value) : value);
    }
  }
  HEADRACE_ASSIGN_OR_RETURN(Tensor joined,
                            Tensor::CopyBytesArray(DType::kBytes, ShapeOfRows(field, rows.size()), values));
  return ColumnOfRows(std::move(joined), rows.size());
}

absl::Status FixedColumns::ReadTexts(const Column& column, absl::Span<const std::string_view> rows,
                                     std::vector<std::string>& texts) const {
  const FixedField& field = *column.field;
  for (const std::string_view row : rows) {
    for (int64_t i = 0; i < ElementCount(field.shape); ++i) {
      std::string text;
      if (!AppendUtf32(ValueAt(row, field, i), field.swapped, text)) {
        return DataError("\"", field.name, "\" has a code point that is not a character, in the bytes from ",
                         field.offset + i * field.value_bytes, " of the row on");
      }
      texts.push_back(std::move(text));
    }
  }
  return absl::OkStatus();
}

}  // namespace headrace
