// `ArrowPart` describes an array of the Arrow C data interface and its type, right or wrong, and makes the C structs of
// it, which count how often they are released.
// Threads: used by the test's thread.
#ifndef HEADRACE_IO_FORMATS_ARROW_TESTING_ARROW_PARTS_H_
#define HEADRACE_IO_FORMATS_ARROW_TESTING_ARROW_PARTS_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/formats/arrow/arrow_owner.h"
#include "io/formats/arrow/arrow_stream.h"
#include "io/formats/arrow/c_data.h"

namespace headrace {

struct ArrowPart {
  std::string format = {};
  std::string name = {};
  std::string metadata = {};  // the block; empty: none
  int64_t length = 0;
  int64_t null_count = 0;
  int64_t offset = 0;
  std::vector<std::optional<std::string>> buffers = {};  // none: a null pointer
  std::vector<ArrowPart> children = {};
  std::vector<ArrowPart> dictionary = {};  // one, or none

  // What the interface's own numbers would be; not set: as many as there are.
  std::optional<int64_t> claimed_buffers = {};
  std::optional<int64_t> claimed_children = {};
};

// The bytes of numbers.
template <typename Number>
std::string BytesOfNumbers(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

// Of valid bits, or of bools, from the first on.
std::string BytesOfBits(const std::vector<bool>& bits);

template <typename Number>
ArrowPart NumbersPart(std::string name, std::string format, const std::vector<Number>& numbers) {
  return {.format = std::move(format),
          .name = std::move(name),
          .length = static_cast<int64_t>(numbers.size()),
          .buffers = {std::nullopt, BytesOfNumbers(numbers)}};
}
// With 32-bit offsets: "u" or "z".
ArrowPart TextsPart(std::string name, const std::vector<std::string>& texts, std::string format = "u");
ArrowPart ListPart(std::string name, const std::vector<int32_t>& offsets, ArrowPart elements);
ArrowPart FixedListPart(std::string name, int64_t size, int64_t length, ArrowPart elements);
ArrowPart StructPart(std::string name, int64_t length, std::vector<ArrowPart> children);
ArrowPart DictionaryPart(std::string name, const std::vector<int8_t>& indices, const std::vector<std::string>& texts);
// Without a value where a bit is not set.
ArrowPart WithMissing(ArrowPart part, const std::vector<bool>& valid);

// The structs, whose release adds one to `releases`, if it is given, for each struct that its consumer releases.
ArrowOwner<ArrowSchema> SchemaOfPart(const ArrowPart& part, int* releases = nullptr);
ArrowOwner<ArrowArray> ArrayOfPart(const ArrowPart& part, int* releases = nullptr);

// A stream of batches of one schema; it fails after them with `error`, if that is not empty.
std::unique_ptr<StreamOwner> StreamOfParts(std::vector<ArrowPart> parts, std::string error = "");

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_TESTING_ARROW_PARTS_H_
