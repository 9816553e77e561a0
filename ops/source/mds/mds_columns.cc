#include "ops/source/mds/mds_columns.h"

#include <charconv>
#include <cstring>

#include "core/error.h"
#include "core/utf8.h"
#include "ops/source/item_columns.h"
#include "ops/source/shown_text.h"

namespace headrace {
namespace {

using Kind = MdsEncoding::Kind;

template <typename T>
bool ParseWholeText(std::string_view text, T& number) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  return wrong == std::errc() && end == text.data() + text.size();
}

absl::Status NumberTextError(std::string_view text, const MdsField& field) {
  return DataError("it is \"", ShownText(text), "\", which is not ", DTypeName(field.encoding.dtype));
}

absl::Status CheckArray(const MdsField& field, std::string_view bytes) {
  HEADRACE_ASSIGN_OR_RETURN(const MdsArray array, ParseMdsArray(field.encoding, bytes));
  if (ir::FitsType(field.type, array.dtype, array.shape)) return absl::OkStatus();
  return DataError("the array is ", DTypeName(array.dtype), " ", ShapeName(array.shape), ", and the first one was ",
                   ir::TypeName(field.type), "; leave the column out, or write arrays of one dtype and rank");
}

absl::Status CheckValue(const MdsField& field, std::string_view bytes) {
  switch (field.encoding.kind) {
    case Kind::kBytes:
      return absl::OkStatus();
    case Kind::kText:
      return IsUtf8(bytes) ? absl::OkStatus() : DataError("it is a text that is not UTF-8");
    case Kind::kNumber:
      if (bytes.size() == ItemSize(field.encoding.dtype)) return absl::OkStatus();
      return DataError("it has ", bytes.size(), " bytes, and ", DTypeName(field.encoding.dtype), " has ",
                       ItemSize(field.encoding.dtype));
    case Kind::kWholeText: {
      int64_t number;
      return ParseWholeText(bytes, number) ? absl::OkStatus() : NumberTextError(bytes, field);
    }
    case Kind::kRealText: {
      double number;
      return ParseWholeText(bytes, number) ? absl::OkStatus() : NumberTextError(bytes, field);
    }
    case Kind::kArray:
    case Kind::kPixels:
      return CheckArray(field, bytes);
  }
  return absl::OkStatus();
}

Shape ShapeOfSamples(size_t rows) { return rows == 1 ? Shape() : Shape({static_cast<int64_t>(rows)}); }

BlockColumn ColumnOfSamples(Tensor values, size_t rows) {
  return rows == 1 ? BlockColumn(std::move(values)) : BlockColumn::Stacked(std::move(values));
}

}  // namespace

absl::Status MdsColumns::CheckSample(const MdsSample& sample, absl::Span<std::string_view> parts) const {
  HEADRACE_RETURN_IF_ERROR(SplitMdsSample(columns_, sample.bytes, parts));
  for (const MdsField& field : fields_) {
    const absl::Status good = CheckValue(field, parts[field.column]);
    if (!good.ok()) return Reworded(good, Cat("\"", columns_[field.column].name, "\": ", good.message()));
  }
  return absl::OkStatus();
}

size_t MdsColumns::Make(absl::Span<const MdsSample> samples, absl::InlinedVector<BlockColumn, 2>& made,
                        absl::Status& wrong) const {
  Parts parts(samples.size() * columns_.size());
  size_t good = 0;
  for (; good < samples.size(); ++good) {
    wrong = CheckSample(samples[good], absl::MakeSpan(parts).subspan(good * columns_.size(), columns_.size()));
    if (!wrong.ok()) break;
  }
  made.clear();
  if (good == 0) return 0;
  for (const MdsField& field : fields_) {
    absl::StatusOr<BlockColumn> column = MakeColumn(field, samples.first(good), parts);
    if (!column.ok()) {
      wrong = std::move(column).status();
      made.clear();
      return 0;
    }
    made.push_back(*std::move(column));
  }
  return good;
}

absl::StatusOr<BlockColumn> MdsColumns::MakeColumn(const MdsField& field, absl::Span<const MdsSample> samples,
                                                   const Parts& parts) const {
  switch (field.encoding.kind) {
    case Kind::kText:
      return MakeTexts(field, samples.size(), parts);
    case Kind::kArray:
    case Kind::kPixels:
      return MakeArrays(field, samples.size(), parts);
    case Kind::kNumber:
    case Kind::kWholeText:
    case Kind::kRealText:
      return MakeNumbers(field, samples.size(), parts);
    case Kind::kBytes:
      break;
  }
  absl::InlinedVector<Item, 1> items(samples.size());
  for (size_t row = 0; row < samples.size(); ++row) {
    items[row].buffer = samples[row].buffer;
    items[row].bytes = PartOf(field, parts, row);
  }
  return BytesColumn(items);
}

absl::StatusOr<BlockColumn> MdsColumns::MakeNumbers(const MdsField& field, size_t rows, const Parts& parts) const {
  HEADRACE_ASSIGN_OR_RETURN(Tensor values, Tensor::Allocate(field.encoding.dtype, ShapeOfSamples(rows)));
  const size_t bytes = ItemSize(field.encoding.dtype);
  for (size_t row = 0; row < rows; ++row) {
    const std::string_view part = PartOf(field, parts, row);
    if (field.encoding.kind == Kind::kWholeText) {
      ParseWholeText(part, values.mutable_data<int64_t>()[row]);
    } else if (field.encoding.kind == Kind::kRealText) {
      ParseWholeText(part, values.mutable_data<double>()[row]);
    } else {
      std::memcpy(values.mutable_raw() + row * bytes, part.data(), bytes);
    }
  }
  return ColumnOfSamples(std::move(values), rows);
}

absl::StatusOr<BlockColumn> MdsColumns::MakeTexts(const MdsField& field, size_t rows, const Parts& parts) const {
  std::vector<std::string_view> texts(rows);
  for (size_t row = 0; row < rows; ++row) texts[row] = PartOf(field, parts, row);
  HEADRACE_ASSIGN_OR_RETURN(Tensor joined, Tensor::CopyBytesArray(DType::kString, ShapeOfSamples(rows), texts));
  return ColumnOfSamples(std::move(joined), rows);
}

// All arrays in one buffer: stacked if they have one shape, by the encoding.
absl::StatusOr<BlockColumn> MdsColumns::MakeArrays(const MdsField& field, size_t rows, const Parts& parts) const {
  std::vector<MdsArray> arrays(rows);
  size_t bytes = 0;
  for (size_t row = 0; row < rows; ++row) {
    HEADRACE_ASSIGN_OR_RETURN(arrays[row], ParseMdsArray(field.encoding, PartOf(field, parts, row)));
    bytes += arrays[row].data.size();
  }
  const BufferRef buffer = BufferPool::Current().Allocate(bytes);
  if (!buffer) return ResourceError("no memory for ", bytes, " bytes of arrays");
  BlockColumn column;
  uint8_t* target = buffer->data();
  for (const MdsArray& array : arrays) {
    if (!array.data.empty()) std::memcpy(target, array.data.data(), array.data.size());
    if (!field.encoding.shaped || rows == 1) column.Append(Tensor::View(array.dtype, array.shape, buffer, target));
    target += array.data.size();
  }
  if (!field.encoding.shaped || rows == 1) return column;
  Shape shape = {static_cast<int64_t>(rows)};
  shape.insert(shape.end(), field.encoding.shape.begin(), field.encoding.shape.end());
  return BlockColumn::Stacked(Tensor::View(field.encoding.dtype, shape, buffer, buffer->data()));
}

}  // namespace headrace
