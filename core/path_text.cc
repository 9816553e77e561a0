#include "core/path_text.h"

#include <cstddef>

#include "core/utf8.h"

namespace headrace {

std::string TextOfPath(std::string_view path) {
  if (IsUtf8(path) && path.find('\xF4') == std::string_view::npos) return std::string(path);
  std::string text;
  while (!path.empty()) {
    const size_t size = CharacterAt(path);
    if (size > 0 && CodePointOf(path.substr(0, size)) < kFirstPathByte) {
      text += path.substr(0, size);
      path.remove_prefix(size);
    } else {
      // Of one of the last characters, the bytes after its first are no characters either.
      AppendUtf8(text, kFirstPathByte + (static_cast<uint8_t>(path[0]) - 0x80));
      path.remove_prefix(1);
    }
  }
  return text;
}

std::string PathOfText(std::string_view text) {
  if (text.find('\xF4') == std::string_view::npos) return std::string(text);
  std::string path;
  while (!text.empty()) {
    const size_t size = CharacterAt(text);
    const uint32_t code_point = size == 0 ? 0 : CodePointOf(text.substr(0, size));
    const size_t taken = size == 0 ? 1 : size;
    if (code_point >= kFirstPathByte) {
      path += static_cast<char>(0x80 + (code_point - kFirstPathByte));
    } else {
      path += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return path;
}

}  // namespace headrace
