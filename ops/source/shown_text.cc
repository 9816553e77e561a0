#include "ops/source/shown_text.h"

#include <algorithm>
#include <cstddef>

#include "core/text.h"
#include "core/utf8.h"

namespace headrace {
namespace {

constexpr size_t kMostBytes = 60;

bool Continues(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

}  // namespace

std::string ShownText(std::string_view text) {
  size_t size = std::min(text.size(), kMostBytes);
  while (size < text.size() && size > 0 && Continues(text[size])) --size;
  std::string shown(text.substr(0, size));
  const bool good = IsUtf8(shown);
  for (char& each : shown) {
    const auto byte = static_cast<uint8_t>(each);
    if ((byte < ' ' && each != '\t') || byte == 0x7F || (!good && byte >= 0x80)) each = '?';
  }
  return size < text.size() ? Cat(shown, "…") : shown;
}

}  // namespace headrace
