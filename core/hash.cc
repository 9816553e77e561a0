#include "core/hash.h"

#include <bit>
#include <cstring>

#include "core/row_id.h"

namespace headrace {
namespace {

static_assert(std::endian::native == std::endian::little, "words are hashed as little-endian machines hold them");

uint64_t WordAt(const char* data, size_t bytes) {
  uint64_t word = 0;
  std::memcpy(&word, data, bytes);
  return word;
}

}  // namespace

uint64_t HashBytes(std::string_view bytes, uint64_t seed) {
  uint64_t hash = MixKey(seed, bytes.size());
  while (bytes.size() >= 8) {
    hash = Scramble(hash ^ WordAt(bytes.data(), 8));
    bytes.remove_prefix(8);
  }
  return bytes.empty() ? hash : Scramble(hash ^ WordAt(bytes.data(), bytes.size()));
}

}  // namespace headrace
