#include "io/formats/arrow/arrow_array.h"

#include <algorithm>

namespace headrace {
namespace {

// Buffers of arrays with that layout, the bitmap among them; views have at least so many.
int64_t BuffersOf(ArrowLayout layout) {
  switch (layout) {
    case ArrowLayout::kStruct:
    case ArrowLayout::kFixedList:
      return 1;
    case ArrowLayout::kSpans32:
    case ArrowLayout::kSpans64:
    case ArrowLayout::kViews:
      return 3;
    default:
      return 2;
  }
}

absl::Status CheckBuffers(std::string_view column, const ArrowArray& array, const ArrowFormat& format, int64_t count) {
  const int64_t wanted = BuffersOf(format.layout);
  const bool views = format.layout == ArrowLayout::kViews;
  if (views ? array.n_buffers < wanted : array.n_buffers != wanted) {
    return DamagedArray(column, "has ", array.n_buffers, " buffers; its type has ", wanted, views ? " or more" : "");
  }
  if (array.buffers == nullptr) return DamagedArray(column, "has no buffers");
  if (array.null_count > 0 && array.buffers[0] == nullptr) {
    return DamagedArray(column, "has missing values, and no bitmap of them");
  }
  if (wanted > 1 && count > 0 && array.buffers[1] == nullptr) return DamagedArray(column, "lacks buffer 1");
  if (views && count > 0 && array.buffers[array.n_buffers - 1] == nullptr && array.n_buffers > wanted) {
    return DamagedArray(column, "does not say how long its buffers are");
  }
  return absl::OkStatus();
}

template <typename Offset>
absl::Status CheckOffsetsOf(std::string_view column, const void* offsets, int64_t begin, int64_t count, int64_t most) {
  int64_t before = NumberAt<Offset>(offsets, begin);
  if (before < 0) return DamagedArray(column, "begins at the offset ", before);
  for (int64_t i = begin; i < begin + count; ++i) {
    const int64_t next = NumberAt<Offset>(offsets, i + 1);
    if (next < before) return DamagedArray(column, "has offsets that decrease, from ", before, " to ", next);
    before = next;
  }
  if (before > most) return DamagedArray(column, "ends at the offset ", before, ", and there are ", most, " elements");
  return absl::OkStatus();
}

}  // namespace

int64_t ArrowBits::FirstUnset(int64_t begin, int64_t count) const {
  if (all()) return -1;
  for (int64_t i = begin; i < begin + count; ++i) {
    // Eight at once where they are all set.
    while (((offset + i) & 7) == 0 && i + 8 <= begin + count && bits[(offset + i) >> 3] == 0xFF) i += 8;
    if (i < begin + count && !Has(i)) return i;
  }
  return -1;
}

absl::Status CheckArrowArray(std::string_view column, const ArrowArray* array, const ArrowFormat& format,
                             int64_t count) {
  if (array == nullptr) return DamagedArray(column, "is not there");
  if (array->release == nullptr) return DamagedArray(column, "was released");
  if (array->length < 0 || array->length > kMostArrowElements) {
    return DamagedArray(column, "has the length ", array->length);
  }
  if (array->offset < 0 || array->offset > kMostArrowElements) {
    return DamagedArray(column, "begins at the offset ", array->offset);
  }
  if (array->length < count) {
    return DamagedArray(column, "has ", array->length, " elements, and ", count, " are needed");
  }
  if (format.width > 0 && array->offset + array->length > kMostArrowElements / format.width) {
    return DamagedArray(column, "has ", array->offset, " + ", array->length, " elements of the width ", format.width);
  }
  const int64_t children = IsList(format.layout) || format.layout == ArrowLayout::kFixedList ? 1 : 0;
  if (format.layout != ArrowLayout::kStruct && array->n_children != children) {
    return DamagedArray(column, "has ", array->n_children, " children; its type has ", children);
  }
  if (array->n_children < 0 || (array->n_children > 0 && array->children == nullptr)) {
    return DamagedArray(column, "lacks its children");
  }
  return CheckBuffers(column, *array, format, count);
}

ArrowBits ValidityOf(const ArrowArray& array) {
  if (array.null_count == 0) return {};
  return {static_cast<const uint8_t*>(array.buffers[0]), array.offset};
}

absl::Status CheckOffsets(std::string_view column, ArrowLayout layout, const void* offsets, int64_t begin,
                          int64_t count, int64_t most) {
  if (count == 0) return absl::OkStatus();
  return HasWideOffsets(layout) ? CheckOffsetsOf<int64_t>(column, offsets, begin, count, most)
                                : CheckOffsetsOf<int32_t>(column, offsets, begin, count, most);
}

}  // namespace headrace
