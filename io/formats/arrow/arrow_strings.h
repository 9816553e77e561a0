// `ArrowStrings` gives the byte strings or texts of an Arrow array, of whatever layout, as views of its memory.
// Threads: const; any thread.
#ifndef HEADRACE_IO_FORMATS_ARROW_ARROW_STRINGS_H_
#define HEADRACE_IO_FORMATS_ARROW_ARROW_STRINGS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "io/formats/arrow/arrow_array.h"
#include "io/formats/arrow/arrow_format.h"
#include "io/formats/arrow/c_data.h"

namespace headrace {

class ArrowStrings {
 public:
  ArrowStrings() = default;
  // Of `count` elements from `begin` on, counted from the array's offset; their offsets are checked. The array outlives
  // it. kData as CheckArrowArray.
  static absl::StatusOr<ArrowStrings> Of(std::string_view column, const ArrowArray* array, const ArrowFormat& format,
                                         int64_t begin, int64_t count);

  // One of those elements. An error names neither row nor column: "is not UTF-8: …".
  absl::StatusOr<std::string_view> At(int64_t element) const;
  // At least one of those elements that follow each other, end to end; nullopt: they do not lie so, have more than
  // `most` bytes, or At fails for one.
  std::optional<std::string_view> Joined(int64_t begin, int64_t count, int64_t most = kMostArrowElements) const;
  // Of such elements: where each ends in their bytes, after a first 0.
  void CopyEnds(int64_t begin, int64_t count, int64_t* ends) const;
  // Where the bytes lie, unless they are viewed.
  const uint8_t* data() const { return data_; }

 private:
  absl::StatusOr<std::string_view> BytesAt(int64_t element) const;
  absl::StatusOr<std::string_view> ViewAt(int64_t element) const;

  ArrowFormat format_;
  int64_t offset_ = 0;  // of the array
  const uint8_t* data_ = nullptr;
  const void* offsets_ = nullptr;
  // Of views: the buffers that they point into, and how long these are.
  const void* const* buffers_ = nullptr;
  const int64_t* buffer_bytes_ = nullptr;
  int64_t buffer_count_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_ARROW_STRINGS_H_
