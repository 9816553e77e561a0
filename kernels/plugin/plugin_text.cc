#include "kernels/plugin/plugin_text.h"

#include <cstring>
#include <string_view>

#include "core/printable.h"
#include "core/utf8.h"

namespace headrace {
namespace {

constexpr size_t kLongestText = 4096;
constexpr size_t kLongestCharacter = 4;

}  // namespace

std::string PluginText(const char* text) {
  // Looks far enough to see whole the character at which it is cut.
  const std::string_view given(text, strnlen(text, kLongestText + kLongestCharacter));
  size_t size = 0;
  while (size < given.size()) {
    const size_t character = CharacterAt(given.substr(size));
    const size_t next = character == 0 ? 1 : character;
    if (size + next > kLongestText) break;
    size += next;
  }
  return Printable(given.substr(0, size));
}

}  // namespace headrace
