#include "io/formats/arrow/arrow_rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/printable.h"
#include "io/formats/arrow/dictionary_texts.h"

namespace headrace {
namespace {

// Rows that are hashed of a large column, evenly spread.
constexpr int64_t kHashedRows = 4096;
// Bytes of a string that is copied, on average.
constexpr int64_t kShortString = 64;
// Bytes of a name in a message.
constexpr size_t kMostShown = 60;

const ArrowFormat& StructFormat() {
  static const auto* const format = new ArrowFormat{ArrowLayout::kStruct};
  return *format;
}

bool HoldsStrings(ArrowLayout layout) {
  return layout == ArrowLayout::kSpans32 || layout == ArrowLayout::kSpans64 || layout == ArrowLayout::kViews ||
         layout == ArrowLayout::kFixedBytes;
}

// Where a dictionary's values lie. The last buffer of views holds lengths alone, which are written anew for each batch.
std::vector<const void*> BuffersOfValues(const ArrowArray& dictionary, ArrowLayout layout) {
  const int64_t count = dictionary.n_buffers - (layout == ArrowLayout::kViews ? 1 : 0);
  return {dictionary.buffers + 1, dictionary.buffers + count};
}

// Bits of elements that begin later by so many.
ArrowBits Shifted(ArrowBits bits, int64_t by) { return {bits.bits, bits.offset + by}; }

}  // namespace

template <typename... Parts>
absl::Status ArrowRows::RowError(int64_t row, const Parts&... parts) const {
  return DataError("column \"", column_->name, "\" ", parts..., " (row ", first_row_ + static_cast<uint64_t>(row), ")");
}

// ---- what the structs say ----

absl::StatusOr<ArrowRows> ArrowRows::Of(const ArrowColumn& column, const HeldArrow& array, uint64_t first_row,
                                        const ArrowRows* before) {
  ArrowRows rows;
  rows.column_ = &column;
  rows.array_ = array;
  rows.first_row_ = first_row;
  rows.rows_ = array->length;
  HEADRACE_RETURN_IF_ERROR(rows.Enter(array.get()));
  rows.copies_ = rows.CanCopy();
  if (rows.copies_ && rows.rows_ > 0) {
    rows.copied_from_ = rows.ViewRows(0, 1).raw();
    rows.copied_bytes_ = ElementCount(column.shape) * static_cast<int64_t>(ItemSize(column.dtype));
  }
  rows.lends_lists_ = rows.CanLendLists();
  rows.lends_texts_ = rows.CanLendTexts();
  if (column.kind != ArrowKind::kDictionary) return rows;
  const ArrowArray* values = array.get();
  for (const int child : column.path) values = values->children[child];
  for (size_t i = 0; i < column.lists.size(); ++i) values = values->children[0];
  HEADRACE_RETURN_IF_ERROR(rows.EnterDictionary(values->dictionary, before));
  return rows;
}

// Of an array that has an element for each row, those from base_ on. One without missing values is not asked again.
void ArrowRows::AddValidity(const ArrowArray& array) {
  const ArrowBits valid = ValidityOf(array);
  if (valid.FirstUnset(base_, rows_) >= 0) valid_.push_back(Shifted(valid, base_));
}

// Through the structs to the column's own array.
absl::Status ArrowRows::Enter(const ArrowArray* array) {
  for (const int child : column_->path) {
    HEADRACE_RETURN_IF_ERROR(CheckArrowArray(column_->name, array, StructFormat(), base_ + rows_));
    if (child >= array->n_children) return DamagedArray(column_->name, "lacks its child ", child);
    AddValidity(*array);
    base_ += array->offset;
    array = array->children[child];
  }
  if (column_->kind == ArrowKind::kFiles) return EnterFiles(array);
  return EnterLists(array);
}

absl::Status ArrowRows::EnterLists(const ArrowArray* array) {
  Range range{base_, rows_};
  absl::InlinedVector<Range, 2> ranges;
  absl::InlinedVector<const ArrowArray*, 2> below;
  bool outermost = true;
  for (const ArrowFormat& list : column_->lists) {
    HEADRACE_RETURN_IF_ERROR(CheckArrowArray(column_->name, array, list, range.begin + range.count));
    if (outermost) AddValidity(*array);
    Level level{list.layout, IsList(list.layout) ? array->buffers[1] : nullptr, array->offset, list.width, {}};
    if (IsList(list.layout)) {
      HEADRACE_RETURN_IF_ERROR(CheckOffsets(column_->name, list.layout, level.offsets, array->offset + range.begin,
                                            range.count, kMostArrowElements));
    }
    range = Below(level, range);
    array = array->children[0];
    levels_.push_back(level);
    ranges.push_back(range);
    below.push_back(array);
    outermost = false;
  }
  HEADRACE_RETURN_IF_ERROR(EnterValues(array, range));
  if (outermost) AddValidity(*array);
  for (size_t i = 0; i < levels_.size(); ++i) {
    const ArrowBits valid = ValidityOf(*below[i]);
    if (valid.FirstUnset(ranges[i].begin, ranges[i].count) < 0) continue;
    levels_[i].valid = valid;
    elements_missing_ = true;
  }
  return absl::OkStatus();
}

absl::Status ArrowRows::EnterValues(const ArrowArray* array, const Range& range) {
  if (HoldsStrings(column_->values.layout)) {
    HEADRACE_ASSIGN_OR_RETURN(strings_,
                              ArrowStrings::Of(column_->name, array, column_->values, range.begin, range.count));
  } else {
    HEADRACE_RETURN_IF_ERROR(CheckArrowArray(column_->name, array, column_->values, range.begin + range.count));
    numbers_ = static_cast<const uint8_t*>(array->buffers[1]);
    numbers_offset_ = array->offset;
  }
  const uint8_t* const data = numbers_ == nullptr ? strings_.data() : numbers_;
  keep_ = BufferRef::Foreign(const_cast<uint8_t*>(data), 0, [held = array_] {});
  return absl::OkStatus();
}

absl::Status ArrowRows::EnterFiles(const ArrowArray* array) {
  HEADRACE_RETURN_IF_ERROR(CheckArrowArray(column_->name, array, StructFormat(), base_ + rows_));
  AddValidity(*array);
  if (array->n_children != 2)
    return DamagedArray(column_->name, "has ", array->n_children, " children; its type has 2");
  base_ += array->offset;
  if (column_->files[1] >= 0) {
    const ArrowArray* const paths = array->children[column_->files[1]];
    HEADRACE_ASSIGN_OR_RETURN(paths_, ArrowStrings::Of(column_->name, paths, column_->paths, base_, rows_));
    paths_valid_ = ValidityOf(*paths);
  }
  if (column_->files[0] < 0) return absl::OkStatus();
  const ArrowArray* const bytes = array->children[column_->files[0]];
  HEADRACE_RETURN_IF_ERROR(EnterValues(bytes, {base_, rows_}));
  bytes_valid_ = ValidityOf(*bytes);
  return absl::OkStatus();
}

absl::Status ArrowRows::EnterDictionary(const ArrowArray* array, const ArrowRows* before) {
  HEADRACE_RETURN_IF_ERROR(CheckArrowArray(column_->name, array, column_->dictionary, 0));
  const DictionaryNumbers* const known = before == nullptr ? nullptr : before->dictionary_.get();
  // Values of other memory may have the same address once a batch of a stream was freed: `before` still holds its own.
  std::vector<const void*> buffers = BuffersOfValues(*array, column_->dictionary.layout);
  if (known != nullptr && known->buffers == buffers && known->offset == array->offset &&
      static_cast<int64_t>(known->names.size()) == array->length) {
    dictionary_ = before->dictionary_;
    return absl::OkStatus();
  }
  DictionaryNumbers numbers;
  HEADRACE_ASSIGN_OR_RETURN(numbers.names, DictionaryTexts(column_->name, column_->dictionary, *array));
  for (const std::string& name : numbers.names) numbers.numbers.push_back(column_->classes->NumberOf(name));
  numbers.buffers = std::move(buffers);
  numbers.offset = array->offset;
  dictionary_ = std::make_shared<const DictionaryNumbers>(std::move(numbers));
  return absl::OkStatus();
}

// The elements of lists that are side by side, whose offsets were checked.
ArrowRows::Range ArrowRows::Below(const Level& level, const Range& lists) const {
  const int64_t first = level.offset + lists.begin;
  if (!IsList(level.layout)) return {first * level.width, lists.count * level.width};
  if (lists.count == 0) return {0, 0};
  const int64_t begin = OffsetAt(level.layout, level.offsets, first);
  return {begin, OffsetAt(level.layout, level.offsets, first + lists.count) - begin};
}

// ---- what is missing ----

bool ArrowRows::IsMissing(int64_t row) const {
  for (const ArrowBits& valid : valid_) {
    if (!valid.Has(row)) return true;
  }
  return column_->kind == ArrowKind::kFiles && !HasBytes(row) && !HasPath(row);
}

absl::Status ArrowRows::CheckPresent(int64_t row) const {
  if (!IsMissing(row)) return absl::OkStatus();
  return DataError("column \"", column_->name, "\" has no value in row ", first_row_ + static_cast<uint64_t>(row),
                   ", and no column holds a missing value; say what stands for it, missing={\"", column_->name,
                   "\": …}, or drop the row");
}

absl::Status ArrowRows::CheckMissing() const {
  const bool rows_missing = !valid_.empty() || !(all_have_bytes() || all_have_paths());
  if (!rows_missing && !elements_missing_) return absl::OkStatus();
  for (int64_t row = 0; row < rows_; ++row) {
    if (IsMissing(row)) {
      if (!column_->fill.has_value()) return CheckPresent(row);
      continue;
    }
    if (!elements_missing_) continue;
    Range range{base_ + row, 1};
    for (const Level& level : levels_) {
      range = Below(level, range);
      HEADRACE_RETURN_IF_ERROR(CheckElements(row, level, range));
    }
  }
  return absl::OkStatus();
}

// Of elements in the row's lists.
absl::Status ArrowRows::CheckElements(int64_t row, const Level& level, const Range& range) const {
  const int64_t missing = level.valid.FirstUnset(range.begin, range.count);
  if (missing < 0) return absl::OkStatus();
  return RowError(row, "has no value at element ", missing - range.begin,
                  ", and no column holds a missing value; fill it with a value of its type, or drop the row");
}

// ---- lists ----

absl::StatusOr<int64_t> ArrowRows::LengthOf(int64_t row, size_t level, const Range& lists) const {
  const Level& of = levels_[level];
  if (!IsList(of.layout)) return of.width;
  // Without lists, the length that all others have.
  if (lists.count == 0) return std::max<int64_t>(column_->shape[level], 0);
  const int64_t first = of.offset + lists.begin;
  const int64_t length = OffsetAt(of.layout, of.offsets, first + 1) - OffsetAt(of.layout, of.offsets, first);
  for (int64_t i = first + 1; i < first + lists.count; ++i) {
    const int64_t other = OffsetAt(of.layout, of.offsets, i + 1) - OffsetAt(of.layout, of.offsets, i);
    if (other == length) continue;
    return RowError(row,
                    "holds lists of lists of unequal lengths, and a column has one ragged axis; flatten the inner "
                    "lists, and give their lengths a column of their own: ",
                    length, " and ", other, " values");
  }
  return length;
}

// Of a row that has a value; sets the axes of its shape.
absl::StatusOr<ArrowRows::Range> ArrowRows::ElementsOf(int64_t row, Shape& shape) const {
  Range range{base_ + row, 1};
  shape = column_->shape;
  for (size_t i = 0; i < levels_.size(); ++i) {
    HEADRACE_ASSIGN_OR_RETURN(const int64_t length, LengthOf(row, i, range));
    // Other lists have their axes from the column, the innermost one perhaps several.
    if (IsList(levels_[i].layout)) shape[i] = length;
    range = Below(levels_[i], range);
    HEADRACE_RETURN_IF_ERROR(CheckElements(row, levels_[i], range));
  }
  return range;
}

void ArrowRows::CompareLengths(Shape& shape) const {
  Range range{base_, rows_};
  for (size_t i = 0; i < levels_.size(); ++i) {
    const Level& level = levels_[i];
    if (i > 0 && IsList(level.layout)) {
      for (int64_t list = level.offset + range.begin; list < level.offset + range.begin + range.count; ++list) {
        const int64_t length =
            OffsetAt(level.layout, level.offsets, list + 1) - OffsetAt(level.layout, level.offsets, list);
        if (shape[i] == kNotSeen) shape[i] = length;
        if (shape[i] != length) shape[i] = ArrowColumn::kAnyLength;
      }
    }
    range = Below(level, range);
  }
}

// ---- values ----

const uint8_t* ArrowRows::ValueAt(int64_t element) const {
  return numbers_ + (numbers_offset_ + element) * static_cast<int64_t>(ItemSize(column_->values.dtype));
}

// Whether values are in memory as a tensor has them, from that element on.
bool ArrowRows::KeepsLayout(int64_t first) const {
  if (column_->values.layout != ArrowLayout::kNumbers || column_->has_classes()) return false;
  return reinterpret_cast<uintptr_t>(ValueAt(first)) % ItemSize(column_->dtype) == 0;
}

int64_t ArrowRows::IndexAt(int64_t element) const {
  const int64_t at = numbers_offset_ + element;
  switch (column_->values.dtype) {
    case DType::kInt8:
      return NumberAt<int8_t>(numbers_, at);
    case DType::kUInt8:
      return NumberAt<uint8_t>(numbers_, at);
    case DType::kInt16:
      return NumberAt<int16_t>(numbers_, at);
    case DType::kUInt16:
      return NumberAt<uint16_t>(numbers_, at);
    case DType::kInt32:
      return NumberAt<int32_t>(numbers_, at);
    case DType::kUInt32:
      return NumberAt<uint32_t>(numbers_, at);
    default:
      return NumberAt<int64_t>(numbers_, at);
  }
}

absl::StatusOr<int64_t> ArrowRows::ClassOf(int64_t row, int64_t element) const {
  std::string_view name;
  if (column_->kind == ArrowKind::kClassTexts) {
    HEADRACE_ASSIGN_OR_RETURN(name, StringAt(row, element));
    const int64_t number = column_->classes->NumberOf(name);
    if (number >= 0) return number;
  } else {
    const int64_t index = IndexAt(element);
    const std::vector<int64_t>& numbers = dictionary_->numbers;
    if (index < 0 || static_cast<size_t>(index) >= numbers.size()) {
      return RowError(row, "has the index ", index, " into a dictionary of ", numbers.size(), " values");
    }
    if (numbers[static_cast<size_t>(index)] >= 0) return numbers[static_cast<size_t>(index)];
    name = dictionary_->names[static_cast<size_t>(index)];
  }
  return RowError(row, "holds a value that is none of its ", column_->classes->names().size(),
                  " classes; name all of them in classes: \"", PrintableStart(name, kMostShown), "\"");
}

absl::StatusOr<std::string_view> ArrowRows::StringAt(int64_t row, int64_t element) const {
  absl::StatusOr<std::string_view> text = strings_.At(element);
  if (text.ok()) return text;
  return RowError(row, ToStd(text.status().message()));
}

absl::Status ArrowRows::CopyElements(int64_t row, const Range& range, uint8_t* target) const {
  if (range.count == 0) return absl::OkStatus();
  if (column_->has_classes()) {
    for (int64_t i = 0; i < range.count; ++i) {
      HEADRACE_ASSIGN_OR_RETURN(const int64_t number, ClassOf(row, range.begin + i));
      std::memcpy(target + i * static_cast<int64_t>(sizeof(number)), &number, sizeof(number));
    }
    return absl::OkStatus();
  }
  switch (column_->values.layout) {
    case ArrowLayout::kBits: {
      const ArrowBits bits{numbers_, numbers_offset_};
      for (int64_t i = 0; i < range.count; ++i) target[i] = bits.Has(range.begin + i) ? 1 : 0;
      break;
    }
    case ArrowLayout::kWidened:
      for (int64_t i = 0; i < range.count; ++i) {
        const int64_t number = NumberAt<int32_t>(numbers_, numbers_offset_ + range.begin + i);
        std::memcpy(target + i * static_cast<int64_t>(sizeof(number)), &number, sizeof(number));
      }
      break;
    default:
      std::memcpy(target, ValueAt(range.begin), static_cast<size_t>(range.count) * ItemSize(column_->dtype));
  }
  return absl::OkStatus();
}

void ArrowRows::CopyFill(uint8_t* target) const {
  const int64_t count = ElementCount(column_->shape);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(target + static_cast<size_t>(i) * column_->fill->size(), column_->fill->data(), column_->fill->size());
  }
}

absl::Status ArrowRows::CopyRow(int64_t row, uint8_t* target) const {
  if (IsMissing(row)) {
    if (!column_->fill.has_value()) return CheckPresent(row);
    CopyFill(target);
    return absl::OkStatus();
  }
  Shape shape;
  HEADRACE_ASSIGN_OR_RETURN(const Range range, ElementsOf(row, shape));
  return CopyElements(row, range, target);
}

absl::StatusOr<Tensor> ArrowRows::FilledRow() const {
  if (IsVariableLength(column_->dtype) && column_->shape.empty())
    return Tensor::CopyBytes(column_->dtype, *column_->fill);
  Shape shape = column_->shape;
  // Lists of any length are empty.
  for (int64_t& axis : shape) axis = std::max<int64_t>(axis, 0);
  if (IsVariableLength(column_->dtype)) {
    const std::vector<std::string_view> texts(static_cast<size_t>(ElementCount(shape)), *column_->fill);
    return Tensor::CopyBytesArray(column_->dtype, shape, texts);
  }
  HEADRACE_ASSIGN_OR_RETURN(Tensor row, Tensor::Allocate(column_->dtype, shape));
  if (row.elements() > 0) CopyFill(row.mutable_raw());
  return row;
}

absl::StatusOr<Tensor> ArrowRows::Row(int64_t row) const {
  if (IsMissing(row)) {
    if (!column_->fill.has_value()) return CheckPresent(row);
    return FilledRow();
  }
  if (IsVariableLength(column_->dtype)) return StringRow(row);
  Shape shape;
  HEADRACE_ASSIGN_OR_RETURN(const Range range, ElementsOf(row, shape));
  return ValuesOf(row, range, shape);
}

bool ArrowRows::slices() const {
  if (column_->stacks()) return true;
  const bool in_one_buffer = column_->values.layout != ArrowLayout::kViews && all_have_bytes() && valid_.empty();
  return levels_.empty() && in_one_buffer;
}

absl::StatusOr<Tensor> ArrowRows::Slice(int64_t begin, int64_t count) const {
  if (IsVariableLength(column_->dtype)) return StringSlice(begin, count);
  Shape shape = column_->shape;
  shape.insert(shape.begin(), count);
  if (valid_.empty() && !elements_missing_ && ElementCount(shape) > 0) {
    Range range{base_ + begin, count};
    for (const Level& level : levels_) range = Below(level, range);
    if (KeepsLayout(range.begin)) return Tensor::View(column_->dtype, shape, keep_, ValueAt(range.begin));
  }
  HEADRACE_ASSIGN_OR_RETURN(Tensor rows, Tensor::Allocate(column_->dtype, shape));
  const size_t bytes = rows.bytes() / static_cast<size_t>(count);
  for (int64_t i = 0; i < count; ++i) {
    HEADRACE_RETURN_IF_ERROR(CopyRow(begin + i, rows.mutable_raw() + static_cast<size_t>(i) * bytes));
  }
  return rows;
}

bool ArrowRows::CanCopy() const {
  if (!column_->stacks() || !valid_.empty() || elements_missing_ || column_->kind != ArrowKind::kValues) return false;
  const auto is_list = [](const Level& level) { return IsList(level.layout); };
  return std::none_of(levels_.begin(), levels_.end(), is_list) && ElementCount(column_->shape) > 0 && KeepsLayout(0);
}

Tensor ArrowRows::ViewRows(int64_t begin, int64_t count) const {
  Range range{base_ + begin, count};
  for (const Level& level : levels_) range = Below(level, range);
  Shape shape = column_->shape;
  shape.insert(shape.begin(), count);
  return Tensor::View(column_->dtype, shape, keep_, ValueAt(range.begin));
}

bool ArrowRows::CanLendTexts() const {
  const bool texts = column_->kind == ArrowKind::kValues || column_->kind == ArrowKind::kFiles;
  return texts && IsVariableLength(column_->dtype) && levels_.empty() && valid_.empty() && all_have_bytes();
}

// ---- lists end to end ----

bool ArrowRows::CanLendLists() const {
  return joins() && !IsVariableLength(column_->dtype) && numbers_ != nullptr && KeepsLayout(0);
}

size_t ArrowRows::BytesOfList(int64_t row) const {
  const auto of_element = ElementCount(absl::MakeConstSpan(column_->shape).subspan(1));
  return static_cast<size_t>(ListAt(row).length * of_element) * ItemSize(column_->dtype);
}

ArrowRows::List ArrowRows::ListAt(int64_t row) const {
  const Level& outermost = levels_[0];
  const int64_t at = outermost.offset + base_ + row;
  const int64_t begin = OffsetAt(outermost.layout, outermost.offsets, at);
  const int64_t length = OffsetAt(outermost.layout, outermost.offsets, at + 1) - begin;
  Range range{begin, length};
  for (size_t i = 1; i < levels_.size(); ++i) range = Below(levels_[i], range);
  return {ValueAt(range.begin), length};
}

bool ArrowRows::joins() const {
  const bool whole = valid_.empty() && !elements_missing_ && column_->kind != ArrowKind::kFiles;
  if (!whole || levels_.empty() || !column_->ragged() || !IsList(levels_[0].layout)) return false;
  const auto is_list = [](const Level& level) { return IsList(level.layout); };
  return std::none_of(levels_.begin() + 1, levels_.end(), is_list) &&
         std::find(column_->shape.begin() + 1, column_->shape.end(), ArrowColumn::kAnyLength) == column_->shape.end();
}

absl::StatusOr<JoinedLists> ArrowRows::Join(int64_t begin, int64_t count) const {
  HEADRACE_ASSIGN_OR_RETURN(Tensor splits, SplitsOf(begin, count));
  Shape shape = column_->shape;
  shape[0] = splits.data<int64_t>()[count];
  Range range{base_ + begin, count};
  for (const Level& level : levels_) range = Below(level, range);
  HEADRACE_ASSIGN_OR_RETURN(Tensor values, ValuesOf(begin, range, shape));
  return JoinedLists{std::move(values), std::move(splits)};
}

absl::StatusOr<Tensor> ArrowRows::SplitsOf(int64_t begin, int64_t count) const {
  HEADRACE_ASSIGN_OR_RETURN(Tensor splits, Tensor::Allocate(DType::kInt64, {count + 1}));
  const Level& level = levels_[0];
  const int64_t at = level.offset + base_ + begin;
  const int64_t first = OffsetAt(level.layout, level.offsets, at);
  auto* const target = splits.mutable_data<int64_t>();
  if (HasWideOffsets(level.layout)) {
    for (int64_t i = 0; i <= count; ++i) target[i] = NumberAt<int64_t>(level.offsets, at + i) - first;
  } else {
    for (int64_t i = 0; i <= count; ++i) target[i] = NumberAt<int32_t>(level.offsets, at + i) - first;
  }
  return splits;
}

absl::StatusOr<Tensor> ArrowRows::ValuesOf(int64_t row, const Range& range, const Shape& shape) const {
  if (IsVariableLength(column_->dtype)) return StringsOf(row, range, shape);
  if (range.count > 0 && KeepsLayout(range.begin)) {
    return Tensor::View(column_->dtype, shape, keep_, ValueAt(range.begin));
  }
  HEADRACE_ASSIGN_OR_RETURN(Tensor made, Tensor::Allocate(column_->dtype, shape));
  HEADRACE_RETURN_IF_ERROR(CopyElements(row, range, made.mutable_raw()));
  return made;
}

// ---- byte strings ----

absl::StatusOr<Tensor> ArrowRows::StringRow(int64_t row) const {
  if (levels_.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(const std::string_view text, StringAt(row, base_ + row));
    return Tensor::ViewBytes(column_->dtype, keep_, text.data(), text.size());
  }
  Shape shape;
  HEADRACE_ASSIGN_OR_RETURN(const Range range, ElementsOf(row, shape));
  return StringsOf(row, range, shape);
}

absl::StatusOr<Tensor> ArrowRows::CopyStrings(std::string_view bytes, int64_t begin, const Shape& shape) const {
  const int64_t count = ElementCount(shape);
  BufferRef copy = BufferPool::Current().Allocate(bytes.size());
  BufferRef ends = BufferPool::Current().Allocate((static_cast<size_t>(count) + 1) * sizeof(int64_t));
  if (!copy || !ends) return ResourceError("no memory for ", bytes.size(), " bytes of column \"", column_->name, "\"");
  if (!bytes.empty()) std::memcpy(copy->data(), bytes.data(), bytes.size());
  strings_.CopyEnds(begin, count, reinterpret_cast<int64_t*>(ends->data()));
  return Tensor::ViewBytesArray(column_->dtype, shape, std::move(copy), std::move(ends));
}

absl::StatusOr<Tensor> ArrowRows::StringsOf(int64_t row, const Range& range, const Shape& shape) const {
  const auto joined = range.count > 0 ? strings_.Joined(range.begin, range.count) : std::nullopt;
  if (joined.has_value() && !shape.empty()) return CopyStrings(*joined, range.begin, shape);
  std::vector<std::string_view> texts;
  texts.reserve(static_cast<size_t>(range.count));
  for (int64_t i = 0; i < range.count; ++i) {
    HEADRACE_ASSIGN_OR_RETURN(const std::string_view text, StringAt(row, range.begin + i));
    texts.push_back(text);
  }
  return Tensor::CopyBytesArray(column_->dtype, shape, texts);
}

absl::StatusOr<Tensor> ArrowRows::StringSlice(int64_t begin, int64_t count) const {
  // Short ones are copied with less work than a table of views takes.
  const auto joined = strings_.Joined(base_ + begin, count, kShortString * count);
  if (joined.has_value()) return CopyStrings(*joined, base_ + begin, {count});
  BufferRef spans = BufferPool::Current().Allocate(static_cast<size_t>(count) * 2 * sizeof(int64_t));
  if (!spans) return ResourceError("no memory for where ", count, " values of column \"", column_->name, "\" lie");
  auto* const numbers = reinterpret_cast<int64_t*>(spans->data());
  const char* const data = reinterpret_cast<const char*>(strings_.data());
  for (int64_t i = 0; i < count; ++i) {
    HEADRACE_ASSIGN_OR_RETURN(const std::string_view text, StringAt(begin + i, base_ + begin + i));
    numbers[2 * i] = text.empty() ? 0 : text.data() - data;
    numbers[2 * i + 1] = numbers[2 * i] + static_cast<int64_t>(text.size());
  }
  const std::array<int64_t, 1> shape = {count};
  return Tensor::ViewSpans(column_->dtype, shape, keep_, std::move(spans));
}

absl::StatusOr<std::optional<std::string_view>> ArrowRows::PathOf(int64_t row) const {
  if (IsMissing(row) || HasBytes(row)) return std::optional<std::string_view>();
  const absl::StatusOr<std::string_view> path = paths_.At(base_ + row);
  if (!path.ok()) return RowError(row, "has a path that ", ToStd(path.status().message()));
  return std::optional<std::string_view>(*path);
}

uint64_t ArrowRows::Hash(uint64_t hash) const {
  const int64_t step = std::max<int64_t>(1, rows_ / kHashedRows);
  for (int64_t at = 0; at < rows_; at += step) {
    const absl::StatusOr<std::optional<std::string_view>> path = PathOf(at);
    if (path.ok() && path->has_value()) {
      hash = HashBytes(**path, hash);
      continue;
    }
    const absl::StatusOr<Tensor> row = Row(at);
    // A row that cannot be read is as different from others as its error.
    if (!row.ok()) {
      hash = HashBytes(ToStd(row.status().message()), hash);
      continue;
    }
    if (!IsVariableLength(row->dtype())) {
      hash = HashBytes({reinterpret_cast<const char*>(row->raw()), row->bytes()}, hash);
      continue;
    }
    for (int64_t i = 0; i < row->elements(); ++i) hash = HashBytes(row->bytes_at(i), hash);
  }
  return hash;
}

}  // namespace headrace
