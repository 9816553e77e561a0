#include "core/path_text.h"

#include "core/utf8.h"

namespace headrace {

std::string TextOfPath(std::string_view path) {
  if (IsUtf8(path) && path.find('\xF4') == std::string_view::npos) return std::string(path);
  std::string text;
  while (!path.empty()) {
    const Character next = TakeCharacter(path);
    if (next.code_point.value_or(kFirstPathByte) < kFirstPathByte) {
      text += next.bytes;
      continue;
    }
    for (const char byte : next.bytes) AppendUtf8(text, kFirstPathByte + (static_cast<uint8_t>(byte) - 0x80));
  }
  return text;
}

std::string PathOfText(std::string_view text) {
  if (text.find('\xF4') == std::string_view::npos) return std::string(text);
  std::string path;
  while (!text.empty()) {
    const Character next = TakeCharacter(text);
    const uint32_t code_point = next.code_point.value_or(0);
    if (code_point >= kFirstPathByte) {
      path += static_cast<char>(0x80 + (code_point - kFirstPathByte));
    } else {
      path += next.bytes;
    }
  }
  return path;
}

}  // namespace headrace
