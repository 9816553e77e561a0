#include "ops/source/mindrecord/mind_columns.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/error.h"
#include "core/utf8.h"
#include "io/formats/mindrecord/blob_frames.h"
#include "io/formats/mindrecord/msg_pack.h"
#include "ops/source/item_columns.h"
#include "ops/source/mindrecord/mind_array.h"
#include "ops/source/mindrecord/mind_scalar.h"
#include "ops/source/shown_text.h"

namespace headrace {
namespace {

// Calls call(T()) for the type of a number.
template <typename Call>
bool WithNumberType(DType dtype, const Call& call) {
  switch (dtype) {
    case DType::kInt32:
      return call(int32_t());
    case DType::kInt64:
      return call(int64_t());
    case DType::kFloat32:
      return call(float());
    default:
      return call(double());
  }
}

absl::Status ScalarsError(size_t at) {
  return DataError("the scalars of the row are damaged: what is no MessagePack begins at their byte ", at);
}

absl::Status ValueError(const MindField& field, const MsgPackValue& value) {
  const std::string shown =
      value.kind == MsgPackValue::Kind::kText ? Cat("\"", ShownText(value.text), "\"") : ShownScalar(value);
  return DataError("\"", field.name, "\" is ", shown, "; the field's type is ", DTypeName(field.dtype));
}

// Whether the column's only row, or all of them, are in one tensor.
BlockColumn ColumnOf(Tensor rows) {
  if (rows.dim(0) == 1) return BlockColumn(rows.Index(0));
  return BlockColumn::Stacked(std::move(rows));
}

}  // namespace

MindColumns::MindColumns(MindLayout layout, absl::Span<const int> fields)
    : layout_(std::move(layout)), columns_(fields.size()) {
  for (size_t column = 0; column < fields.size(); ++column) {
    const auto field = static_cast<size_t>(fields[column]);
    if (!layout_.fields[field].in_blob()) {
      scalars_.push_back({field, column, 0});
      continue;
    }
    const auto frame = std::find(layout_.blob_fields.begin(), layout_.blob_fields.end(), field);
    blobs_.push_back({field, column, static_cast<size_t>(frame - layout_.blob_fields.begin())});
  }
  // Fields are in order of their names.
  std::sort(scalars_.begin(), scalars_.end(), [](const Scalar& a, const Scalar& b) { return a.field < b.field; });
  for (Scalar& scalar : scalars_) {
    if (FieldOf(scalar).dtype == DType::kString) scalar.text = text_columns_++;
  }
}

absl::Status MindColumns::Begin(size_t rows, Found& found) const {
  found.numbers.resize(scalars_.size());
  for (size_t i = 0; i < scalars_.size(); ++i) {
    const DType dtype = FieldOf(scalars_[i]).dtype;
    if (dtype == DType::kString) continue;
    HEADRACE_ASSIGN_OR_RETURN(found.numbers[i], Tensor::Allocate(dtype, {static_cast<int64_t>(rows)}));
  }
  found.texts.resize(rows * text_columns_);
  found.parts.resize(blobs_.empty() ? 0 : rows * layout_.blob_fields.size());
  found.seen.assign(scalars_.size(), 0);
  return absl::OkStatus();
}

// The place of a scalar of that name; their number: no column is made of it. Names come in order, as those of
// scalars_ do, so that the next one is the best guess.
size_t MindColumns::FindScalar(std::string_view name, size_t guess) const {
  if (guess < scalars_.size() && FieldOf(scalars_[guess]).name == name) return guess;
  const auto found =
      std::lower_bound(scalars_.begin(), scalars_.end(), name,
                       [this](const Scalar& scalar, std::string_view wanted) { return FieldOf(scalar).name < wanted; });
  if (found == scalars_.end() || FieldOf(*found).name != name) return scalars_.size();
  return static_cast<size_t>(found - scalars_.begin());
}

absl::Status MindColumns::TakeScalar(const MsgPackValue& value, size_t number, size_t row, Found& found) const {
  const Scalar& scalar = scalars_[number];
  const MindField& field = FieldOf(scalar);
  found.seen[number] = row + 1;
  if (field.dtype == DType::kString) {
    if (value.kind != MsgPackValue::Kind::kText) return ValueError(field, value);
    if (!IsUtf8(value.text)) return DataError("\"", field.name, "\" is a text that is not UTF-8");
    found.texts[row * text_columns_ + scalar.text] = value.text;
    return absl::OkStatus();
  }
  const bool fits = WithNumberType(field.dtype, [&](auto zero) {
    return ConvertScalar(value, found.numbers[number].mutable_data<decltype(zero)>()[row]);
  });
  return fits ? absl::OkStatus() : ValueError(field, value);
}

absl::Status MindColumns::ReadScalars(std::string_view bytes, size_t row, Found& found) const {
  MsgPackReader reader(bytes);
  uint32_t entries = 0;
  if (!reader.TakeMap(entries)) return DataError("the scalars of the row are damaged: they are no map of MessagePack");
  MsgPackValue value;
  size_t next = 0;
  for (uint32_t i = 0; i < entries; ++i) {
    const size_t at = reader.at();
    std::string_view name;
    if (!reader.TakeText(name) || !reader.Take(value)) return ScalarsError(at);
    const size_t number = FindScalar(name, next);
    if (number == scalars_.size()) continue;
    HEADRACE_RETURN_IF_ERROR(TakeScalar(value, number, row, found));
    next = number + 1;
  }
  if (!reader.at_end()) return ScalarsError(reader.at());
  for (size_t i = 0; i < scalars_.size(); ++i) {
    if (found.seen[i] != row + 1) return DataError("the row has no value of \"", FieldOf(scalars_[i]).name, "\"");
  }
  return absl::OkStatus();
}

size_t MindColumns::Make(absl::Span<const MindRowBytes> rows, MindBlockColumns& columns, MindDamage& damage) const {
  Found found;
  damage = {Begin(rows.size(), found)};
  if (!damage.status.ok()) return 0;
  const size_t frames = layout_.blob_fields.size();
  size_t good = 0;
  for (; good < rows.size(); ++good) {
    if (needs_scalars()) damage = {ReadScalars(rows[good].scalars, good, found)};
    if (damage.status.ok() && needs_blobs()) {
      damage = {BlobFrames(rows[good].blob, absl::MakeSpan(found.parts).subspan(good * frames, frames)), true};
    }
    if (!damage.status.ok()) break;
  }
  return MakeAll(rows.first(good), found, columns, damage);
}

size_t MindColumns::MakeAll(absl::Span<const MindRowBytes> rows, Found& found, MindBlockColumns& columns,
                            MindDamage& damage) const {
  columns.clear();
  columns.resize(columns_);
  size_t good = rows.size();
  // Arrays may still turn out to be damaged: the first row that is ends all columns.
  for (const Blob& blob : blobs_) {
    if (FieldOf(blob).array && good > 0) good = MakeArrays(blob, good, found, columns[blob.column], damage);
  }
  for (const Blob& blob : blobs_) {
    if (FieldOf(blob).array && good > 0) columns[blob.column].Truncate(static_cast<int>(good));
  }
  absl::Status made = good > 0 ? MakeOthers(rows.first(good), found, columns) : absl::OkStatus();
  if (!made.ok()) {
    damage = {std::move(made)};
    good = 0;
  }
  if (good == 0) columns.clear();
  return good;
}

size_t MindColumns::MakeArrays(const Blob& blob, size_t rows, const Found& found, BlockColumn& column,
                               MindDamage& damage) const {
  const auto bytes_of = [&](size_t row) { return found.parts[row * layout_.blob_fields.size() + blob.frame]; };
  absl::Status wrong;
  const size_t good = MindArrayColumn(FieldOf(blob), layout_.packed, rows, bytes_of, column, wrong);
  if (good < rows) damage = {std::move(wrong), true};
  return good;
}

// The columns that cannot fail for what a row holds.
absl::Status MindColumns::MakeOthers(absl::Span<const MindRowBytes> rows, Found& found,
                                     MindBlockColumns& columns) const {
  for (size_t i = 0; i < scalars_.size(); ++i) {
    HEADRACE_ASSIGN_OR_RETURN(columns[scalars_[i].column], MakeScalars(i, rows.size(), found));
  }
  for (const Blob& blob : blobs_) {
    if (FieldOf(blob).array) continue;
    HEADRACE_ASSIGN_OR_RETURN(columns[blob.column], MakeBytes(blob, rows, found));
  }
  return absl::OkStatus();
}

absl::StatusOr<BlockColumn> MindColumns::MakeScalars(size_t number, size_t rows, Found& found) const {
  const Scalar& scalar = scalars_[number];
  if (FieldOf(scalar).dtype != DType::kString) {
    return ColumnOf(found.numbers[number].Slice(0, 0, static_cast<int64_t>(rows)));
  }
  std::vector<std::string_view> texts(rows);
  for (size_t row = 0; row < rows; ++row) texts[row] = found.texts[row * text_columns_ + scalar.text];
  HEADRACE_ASSIGN_OR_RETURN(Tensor joined, Tensor::CopyBytesArray(DType::kString, {static_cast<int64_t>(rows)}, texts));
  return ColumnOf(std::move(joined));
}

absl::StatusOr<BlockColumn> MindColumns::MakeBytes(const Blob& blob, absl::Span<const MindRowBytes> rows,
                                                   const Found& found) const {
  absl::InlinedVector<Item, 1> items(rows.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    items[row].buffer = rows[row].buffer;
    items[row].bytes = found.parts[row * layout_.blob_fields.size() + blob.frame];
  }
  return BytesColumn(items);
}

}  // namespace headrace
