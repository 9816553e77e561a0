// `TextOfPath` writes a path, which is any bytes, as a text in UTF-8, and `PathOfText` reads it back. Use them where a
// path is in a graph, which holds texts alone. A path in UTF-8 is its own text; a byte that is no part of a character
// becomes one of the last characters of Unicode, which are for private use, and so does each byte of such a character.
// Threads: pure functions.
#ifndef HEADRACE_CORE_PATH_TEXT_H_
#define HEADRACE_CORE_PATH_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace {

// The character that stands for byte 0x80; those for the others follow, and U+10FFFF stands for 0xFF.
inline constexpr uint32_t kFirstPathByte = 0x10FF80;

std::string TextOfPath(std::string_view path);
std::string PathOfText(std::string_view text);

}  // namespace headrace

#endif  // HEADRACE_CORE_PATH_TEXT_H_
