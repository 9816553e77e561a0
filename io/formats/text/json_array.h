// `JsonArray` cuts the elements out of a file of JSON whose top level is one array, in bounded memory, whatever is
// between the elements and around them. It looks at brackets and quotes alone: whether an element is JSON is for who
// parses it.
// Threads: immutable.
#ifndef HEADRACE_IO_FORMATS_TEXT_JSON_ARRAY_H_
#define HEADRACE_IO_FORMATS_TEXT_JSON_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/formats/framed_reader.h"

namespace headrace {

// The bytes of a file that show whether it is an array: spaces beyond them are those of a file of lines.
inline constexpr size_t kJsonArrayBytes = 4096;

// Whether a file that begins with `first` is an array; nullopt: it takes more of its first bytes to know.
std::optional<bool> BeginsJsonArray(absl::Span<const uint8_t> first);

// The length of the element that begins with `bytes`, up to its last bracket, quote or character; npos: it does not end
// in them. 0: no element begins there.
size_t JsonElementLength(std::string_view bytes);

class JsonArray : public Framing {
 public:
  // kData for an element of more than `longest` bytes.
  explicit JsonArray(size_t longest) : longest_(longest) {}

  // The array begins with its file, so that nothing is searched.
  int64_t looks_behind() const override { return 0; }
  First FindFirst(absl::Span<const uint8_t> bytes, int64_t offset, bool last) const override;
  // At any byte but the first one, `bytes` begin with an element, or with the bracket that ends the array. An element
  // is cut once the comma or the bracket after it was seen.
  absl::StatusOr<Piece> Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                            std::vector<Record>& records) const override;

 private:
  const size_t longest_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TEXT_JSON_ARRAY_H_
