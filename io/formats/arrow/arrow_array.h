// `CheckArrowArray` checks what the C struct of an array says before its buffers are read. `ArrowBits` reads a bitmap,
// such as that of the rows which have a value.
// Threads: pure functions; a value.
#ifndef HEADRACE_IO_FORMATS_ARROW_ARROW_ARRAY_H_
#define HEADRACE_IO_FORMATS_ARROW_ARROW_ARRAY_H_

#include <cstdint>
#include <cstring>
#include <string_view>

#include "absl/status/status.h"
#include "core/error.h"
#include "io/formats/arrow/arrow_format.h"
#include "io/formats/arrow/c_data.h"

namespace headrace {

// Bit `i` is that of element i. Without bits, all are set.
struct ArrowBits {
  const uint8_t* bits = nullptr;
  int64_t offset = 0;

  bool all() const { return bits == nullptr; }
  bool Has(int64_t i) const { return all() || ((bits[(offset + i) >> 3] >> ((offset + i) & 7)) & 1) != 0; }
  // The first of `count` from `begin` on that is not set; -1: all are.
  int64_t FirstUnset(int64_t begin, int64_t count) const;
};

// kData, naming the column, unless there is an array of that format with at least `count` elements, and with the
// buffers that they need. What is behind its offsets is not looked at.
absl::Status CheckArrowArray(std::string_view column, const ArrowArray* array, const ArrowFormat& format,
                             int64_t count);
// Of elements counted from the array's offset on. The array was checked.
ArrowBits ValidityOf(const ArrowArray& array);

// kData: the offsets of `count` elements from `begin` on, which count from the array's first, decrease, or lie outside
// of `most`. They are int32 or int64, as the layout says.
absl::Status CheckOffsets(std::string_view column, ArrowLayout layout, const void* offsets, int64_t begin,
                          int64_t count, int64_t most);
// Wherever they lie: a producer may leave them unaligned.
template <typename Number>
Number NumberAt(const void* numbers, int64_t i) {
  Number number;
  std::memcpy(&number, static_cast<const uint8_t*>(numbers) + i * static_cast<int64_t>(sizeof(number)), sizeof(number));
  return number;
}
inline bool HasWideOffsets(ArrowLayout layout) {
  return layout == ArrowLayout::kList64 || layout == ArrowLayout::kSpans64;
}
inline int64_t OffsetAt(ArrowLayout layout, const void* offsets, int64_t i) {
  return HasWideOffsets(layout) ? NumberAt<int64_t>(offsets, i) : NumberAt<int32_t>(offsets, i);
}

// More than any array has, and so few that sums of some of them do not overflow.
inline constexpr int64_t kMostArrowElements = int64_t{1} << 56;

template <typename... Parts>
absl::Status DamagedArray(std::string_view column, const Parts&... parts) {
  return DataError("the Arrow array of column \"", column, "\" is damaged: it ", parts...);
}

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_ARROW_ARRAY_H_
