#include "core/utf8.h"

#include <cstddef>
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

constexpr uint64_t kHighBits = 0x8080808080808080ULL;
constexpr size_t kStep = 64;

bool EightAreAscii(const uint8_t* text) {
  uint64_t eight;
  std::memcpy(&eight, text, sizeof(eight));
  return (eight & kHighBits) == 0;
}

bool StepIsAscii(const uint8_t* text) {
  using Pair = uint64_t __attribute__((vector_size(16)));
  Pair pairs[kStep / sizeof(Pair)];
  std::memcpy(pairs, text, sizeof(pairs));
  const Pair all = (pairs[0] | pairs[1]) | (pairs[2] | pairs[3]);
  return ((all[0] | all[1]) & kHighBits) == 0;
}

// Whether the characters that begin in [text, stop) are well formed; moves `text` after them. Bytes go on up to `end`.
bool TakeCharacters(const uint8_t*& text, const uint8_t* stop, const uint8_t* end) {
  while (text < stop) {
    const auto left = static_cast<size_t>(end - text);
    const size_t taken = left >= 8 && EightAreAscii(text) ? 8 : CharacterBytes(text, left);
    if (taken == 0) return false;
    text += taken;
  }
  return true;
}

}  // namespace

size_t CharacterAt(std::string_view bytes) {
  return bytes.empty() ? 0 : CharacterBytes(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

uint32_t CodePointOf(std::string_view character) {
  const auto lead = static_cast<uint8_t>(character[0]);
  if (character.size() == 1) return lead;
  uint32_t code_point = lead & (0x7F >> character.size());
  for (const char byte : character.substr(1)) code_point = code_point << 6 | (static_cast<uint8_t>(byte) & 0x3F);
  return code_point;
}

Character TakeCharacter(std::string_view& bytes) {
  const size_t size = CharacterAt(bytes);
  const std::string_view taken = bytes.substr(0, size == 0 ? 1 : size);
  bytes.remove_prefix(taken.size());
  return {taken, size == 0 ? std::nullopt : std::optional(CodePointOf(taken))};
}

void AppendUtf8(std::string& text, uint32_t code_point) {
  const auto add = [&text](uint32_t byte) { text += static_cast<char>(byte); };
  const auto continued = [&](int shift) { add(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) return add(code_point);
  if (code_point < 0x800) {
    add(0xC0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    add(0xE0 | code_point >> 12);
    continued(6);
  } else {
    add(0xF0 | code_point >> 18);
    continued(12);
    continued(6);
  }
  continued(0);
}

bool IsUtf8(std::string_view bytes) {
  // Most text is ASCII for long stretches, which are looked at in long steps.
  const auto* text = reinterpret_cast<const uint8_t*>(bytes.data());
  const uint8_t* const end = text + bytes.size();
  while (end - text >= static_cast<std::ptrdiff_t>(kStep)) {
    if (StepIsAscii(text)) {
      text += kStep;
    } else if (!TakeCharacters(text, text + kStep, end)) {
      return false;
    }
  }
  return TakeCharacters(text, end, end);
}

}  // namespace headrace
