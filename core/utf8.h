// `IsUtf8` tells whether bytes are UTF-8, as the Unicode standard defines it: no overlong forms, no surrogates, nothing
// above U+10FFFF. `TakeCharacter` goes over bytes that may not be UTF-8; `CharacterAt` and `CodePointOf` read one
// character.
// Threads: pure functions.
#ifndef HEADRACE_CORE_UTF8_H_
#define HEADRACE_CORE_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

bool IsUtf8(std::string_view bytes);

// How many bytes the character has with which they begin; 0: they begin with none, or are empty.
size_t CharacterAt(std::string_view bytes);

// Of the bytes of one character.
uint32_t CodePointOf(std::string_view character);

// A character, or a byte that is part of none.
struct Character {
  std::string_view bytes;
  std::optional<uint32_t> code_point;  // none: a byte that is part of none
};
// Takes the first one off `bytes`, which are not empty.
Character TakeCharacter(std::string_view& bytes);

// Appends a code point that is not a surrogate.
void AppendUtf8(std::string& text, uint32_t code_point);

}  // namespace headrace

#endif  // HEADRACE_CORE_UTF8_H_
