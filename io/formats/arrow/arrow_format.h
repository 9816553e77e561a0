// `ParseArrowFormat` reads the format string of an Arrow type ("i", "tsu:UTC", "+w:3"), and says how its values lie in
// memory and which dtype they have here.
// Threads: a pure function.
#ifndef HEADRACE_IO_FORMATS_ARROW_ARROW_FORMAT_H_
#define HEADRACE_IO_FORMATS_ARROW_ARROW_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/dtype.h"

namespace headrace {

enum class ArrowLayout : uint8_t {
  kNumbers,     // of a fixed size, as they are here
  kWidened,     // int32 of days, seconds or milliseconds, here int64
  kBits,        // bool
  kSpans32,     // bytes or texts with 32-bit offsets
  kSpans64,     // with 64-bit offsets
  kViews,       // bytes or texts by views of 16 bytes
  kFixedBytes,  // byte strings of one width
  kList32,      // lists with 32-bit offsets
  kList64,
  kFixedList,  // lists of one length
  kStruct,
};

struct ArrowFormat {
  ArrowLayout layout = ArrowLayout::kNumbers;
  DType dtype = DType::kUnknown;  // of values; kUnknown for lists and structs
  int64_t width = 0;              // of fixed bytes, and of lists of one length
  // Of times: "s", "ms", "us", "ns" or "days", with the time zone if there is one: "us Europe/Berlin".
  std::string unit = {};
};

// Whether values have offsets, so that they differ in length.
inline bool IsList(ArrowLayout layout) { return layout == ArrowLayout::kList32 || layout == ArrowLayout::kList64; }

// kUnsupported, as what follows "column "x" ": "holds decimals; cast them to float64, …".
absl::StatusOr<ArrowFormat> ParseArrowFormat(std::string_view format);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_ARROW_FORMAT_H_
