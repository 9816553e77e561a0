#include "core/utf8.h"

#include <cstdint>
#include <cstring>

namespace headrace {
namespace {

bool Continues(uint8_t byte) { return (byte & 0xC0) == 0x80; }

// Bytes of the character that `text` begins with; 0: none. (Unicode 15, table 3-7.)
size_t CharacterBytes(const uint8_t* text, size_t left) {
  const uint8_t lead = text[0];
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const size_t bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (left < bytes) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if (!Continues(text[i])) return 0;
  }
  const bool overlong = (lead == 0xE0 && text[1] < 0xA0) || (lead == 0xF0 && text[1] < 0x90);
  const bool surrogate = lead == 0xED && text[1] > 0x9F;
  const bool too_large = lead == 0xF4 && text[1] > 0x8F;
  return overlong || surrogate || too_large ? 0 : bytes;
}

bool AreAscii(const uint8_t* text) {
  uint64_t eight;
  std::memcpy(&eight, text, sizeof(eight));
  return (eight & 0x8080808080808080ULL) == 0;
}

}  // namespace

bool IsUtf8(std::string_view bytes) {
  const auto* text = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t left = bytes.size();
  while (left > 0) {
    const size_t taken = left >= 8 && AreAscii(text) ? 8 : CharacterBytes(text, left);
    if (taken == 0) return false;
    text += taken;
    left -= taken;
  }
  return true;
}

}  // namespace headrace
