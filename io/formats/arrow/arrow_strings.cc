#include "io/formats/arrow/arrow_strings.h"

#include <cstring>

#include "core/error.h"
#include "core/utf8.h"

namespace headrace {
namespace {

// A view has its length, and then its bytes, or their first four, the number of a buffer, and where they begin there.
constexpr int64_t kViewBytes = 16;
constexpr int32_t kLongestInView = 12;

int32_t ViewNumber(const uint8_t* at) {
  int32_t number;
  std::memcpy(&number, at, sizeof(number));
  return number;
}

}  // namespace

absl::StatusOr<ArrowStrings> ArrowStrings::Of(std::string_view column, const ArrowArray* array,
                                              const ArrowFormat& format, int64_t begin, int64_t count) {
  HEADRACE_RETURN_IF_ERROR(CheckArrowArray(column, array, format, begin + count));
  ArrowStrings strings;
  strings.format_ = format;
  strings.offset_ = array->offset;
  strings.data_ = static_cast<const uint8_t*>(array->buffers[1]);
  if (format.layout == ArrowLayout::kFixedBytes) return strings;
  if (format.layout == ArrowLayout::kViews) {
    strings.buffers_ = array->buffers + 2;
    strings.buffer_count_ = array->n_buffers - 3;
    strings.buffer_bytes_ = static_cast<const int64_t*>(array->buffers[array->n_buffers - 1]);
    return strings;
  }
  strings.offsets_ = array->buffers[1];
  strings.data_ = static_cast<const uint8_t*>(array->buffers[2]);
  if (count == 0) return strings;
  const int64_t first = array->offset + begin;
  HEADRACE_RETURN_IF_ERROR(CheckOffsets(column, format.layout, strings.offsets_, first, count, kMostArrowElements));
  const bool empty =
      OffsetAt(format.layout, strings.offsets_, first) == OffsetAt(format.layout, strings.offsets_, first + count);
  if (!empty && strings.data_ == nullptr) return DamagedArray(column, "lacks buffer 2");
  return strings;
}

absl::StatusOr<std::string_view> ArrowStrings::At(int64_t element) const {
  HEADRACE_ASSIGN_OR_RETURN(const std::string_view bytes, BytesAt(element));
  if (format_.dtype == DType::kString && !IsUtf8(bytes)) {
    return DataError("is not UTF-8; cast the column to binary if it holds bytes");
  }
  return bytes;
}

std::optional<std::string_view> ArrowStrings::Joined(int64_t begin, int64_t count, int64_t most) const {
  if (format_.layout != ArrowLayout::kSpans32 && format_.layout != ArrowLayout::kSpans64) return std::nullopt;
  const int64_t at = offset_ + begin;
  const int64_t first = OffsetAt(format_.layout, offsets_, at);
  const int64_t last = OffsetAt(format_.layout, offsets_, at + count);
  if (last - first > most) return std::nullopt;
  if (first == last) return std::string_view();
  const std::string_view bytes(reinterpret_cast<const char*>(data_) + first, static_cast<size_t>(last - first));
  if (format_.dtype != DType::kString) return bytes;
  if (!IsUtf8(bytes)) return std::nullopt;
  // Parts of a text are texts where none begins within a character.
  for (int64_t i = at + 1; i < at + count; ++i) {
    const int64_t offset = OffsetAt(format_.layout, offsets_, i);
    if (offset < last && (data_[offset] & 0xC0) == 0x80) return std::nullopt;
  }
  return bytes;
}

void ArrowStrings::CopyEnds(int64_t begin, int64_t count, int64_t* ends) const {
  const int64_t at = offset_ + begin;
  const int64_t first = OffsetAt(format_.layout, offsets_, at);
  if (HasWideOffsets(format_.layout)) {
    for (int64_t i = 0; i <= count; ++i) ends[i] = NumberAt<int64_t>(offsets_, at + i) - first;
  } else {
    for (int64_t i = 0; i <= count; ++i) ends[i] = NumberAt<int32_t>(offsets_, at + i) - first;
  }
}

absl::StatusOr<std::string_view> ArrowStrings::BytesAt(int64_t element) const {
  const int64_t at = offset_ + element;
  const char* const data = reinterpret_cast<const char*>(data_);
  if (format_.layout == ArrowLayout::kViews) return ViewAt(at);
  if (format_.layout == ArrowLayout::kFixedBytes) {
    return std::string_view(data + at * format_.width, static_cast<size_t>(format_.width));
  }
  const int64_t begin = OffsetAt(format_.layout, offsets_, at);
  const int64_t length = OffsetAt(format_.layout, offsets_, at + 1) - begin;
  if (length == 0) return std::string_view();
  return std::string_view(data + begin, static_cast<size_t>(length));
}

absl::StatusOr<std::string_view> ArrowStrings::ViewAt(int64_t element) const {
  const uint8_t* const view = data_ + element * kViewBytes;
  const int32_t length = ViewNumber(view);
  if (length < 0) return DataError("is a view of the length ", length);
  if (length <= kLongestInView) {
    return std::string_view(reinterpret_cast<const char*>(view) + 4, static_cast<size_t>(length));
  }
  const int32_t buffer = ViewNumber(view + 8);
  const int64_t begin = ViewNumber(view + 12);
  if (buffer < 0 || buffer >= buffer_count_ || buffers_[buffer] == nullptr) {
    return DataError("is a view of buffer ", buffer, ", and there are ", buffer_count_);
  }
  if (begin < 0 || begin + length > buffer_bytes_[buffer]) {
    return DataError("is a view of bytes ", begin, " to ", begin + length, " of a buffer that has ",
                     buffer_bytes_[buffer]);
  }
  return std::string_view(static_cast<const char*>(buffers_[buffer]) + begin, static_cast<size_t>(length));
}

}  // namespace headrace
