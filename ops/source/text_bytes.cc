#include "ops/source/text_bytes.h"

#include <cstdint>

#include "core/utf8.h"

namespace headrace {

std::optional<std::string> BytesOfText(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const std::optional<uint32_t> code_point = TakeCharacter(text).code_point;
    if (!code_point.has_value() || *code_point > 0xFF) return std::nullopt;
    bytes.push_back(static_cast<char>(*code_point));
  }
  return bytes;
}

}  // namespace headrace
