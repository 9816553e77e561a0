// `MdsEncoding` says how the bytes of a value in an MDS sample become the value. `ParseMdsArray` reads the arrays and
// the pictures that say themselves of what shape they are.
// Threads: values and pure functions.
#ifndef HEADRACE_IO_FORMATS_MDS_MDS_ENCODING_H_
#define HEADRACE_IO_FORMATS_MDS_MDS_ENCODING_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/tensor.h"

namespace headrace {

struct MdsEncoding {
  enum class Kind : uint8_t {
    kBytes,      // bytes, jpeg, png: as they are
    kText,       // str, json, str_decimal
    kNumber,     // a number of the dtype
    kWholeText,  // a whole number in words of digits
    kRealText,   // a real number so
    kArray,
    kPixels,  // the pixels of a picture of Pillow's
  };

  Kind kind = Kind::kBytes;
  DType dtype = DType::kUnknown;  // of arrays: kUnknown if each says its own
  bool shaped = false;            // arrays have this shape, and do not say their own
  Shape shape = {};
};

// kUnsupported: an encoding that is not read, and what to do.
absl::StatusOr<MdsEncoding> ParseMdsEncoding(std::string_view text);

struct MdsArray {
  DType dtype = DType::kUnknown;
  Shape shape = {};
  std::string_view data = {};  // row-major
};

// Of a value of kArray or kPixels, a view of its bytes. kData: damage.
absl::StatusOr<MdsArray> ParseMdsArray(const MdsEncoding& encoding, std::string_view bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MDS_MDS_ENCODING_H_
