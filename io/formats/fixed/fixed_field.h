// `FixedField` says where a value lies in each row of a table whose rows all have equally many bytes, and how it is
// stored there.
// Threads: a value.
#ifndef HEADRACE_IO_FORMATS_FIXED_FIXED_FIELD_H_
#define HEADRACE_IO_FORMATS_FIXED_FIXED_FIELD_H_

#include <cstdint>
#include <string>

#include "core/dtype.h"
#include "core/tensor.h"

namespace headrace {

enum class FixedStorage : uint8_t {
  kNumber,       // bools, too
  kBytes,        // bytes of one length
  kPaddedBytes,  // bytes, with zeros after them
  kUtf32,        // code points of 4 bytes, with zeros after them
};

struct FixedField {
  std::string name = {};
  FixedStorage storage = FixedStorage::kNumber;
  DType dtype = DType::kUnknown;
  Shape shape = {};         // of the values in a row
  int64_t offset = 0;       // in the row, in bytes
  int64_t value_bytes = 0;  // of one value
  bool swapped = false;     // its numbers or code points are big-endian

  // Of all values in a row.
  int64_t bytes() const { return ElementCount(shape) * value_bytes; }

  friend bool operator==(const FixedField&, const FixedField&) = default;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_FIXED_FIXED_FIELD_H_
