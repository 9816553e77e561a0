// `PackedIntegers` is the form that arrays of integers have in MindRecord files of version 3.0: their number, two bits
// for the size of each, and each in the fewest bytes of 1, 2, 4 or 8 that hold it.
// Threads: a value; a view of bytes that outlive it.
#ifndef HEADRACE_IO_FORMATS_MINDRECORD_PACKED_INTEGERS_H_
#define HEADRACE_IO_FORMATS_MINDRECORD_PACKED_INTEGERS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace headrace {

class PackedIntegers {
 public:
  // kData: the bytes are not as long as their first ones say.
  static absl::StatusOr<PackedIntegers> Of(std::string_view bytes);

  int64_t size() const { return size_; }
  // Unpacks all of them; `target` has room for size(). kData: int32 does not hold one of them.
  absl::Status CopyTo(int32_t* target) const;
  absl::Status CopyTo(int64_t* target) const;

  static std::string Pack(absl::Span<const int64_t> values);

 private:
  PackedIntegers(int64_t size, std::string_view sizes, std::string_view values)
      : size_(size), sizes_(sizes), values_(values) {}

  int64_t size_;
  std::string_view sizes_;   // of four values each byte, those of the first in its highest bits
  std::string_view values_;  // little-endian
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MINDRECORD_PACKED_INTEGERS_H_
