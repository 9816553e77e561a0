#include "ops/plugin/plugin_text.h"

#include <cstring>
#include <string_view>

#include "core/utf8.h"

namespace headrace {
namespace {

constexpr size_t kLongestText = 4096;
constexpr size_t kLongestCharacter = 4;

// The bytes of the character at the beginning; 0: there is none.
size_t CharacterAt(std::string_view bytes) {
  for (size_t size = 1; size <= kLongestCharacter && size <= bytes.size(); ++size) {
    if (IsUtf8(bytes.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace

std::string PluginText(const char* text) {
  // Looks far enough to see whole the character at which it is cut.
  const std::string_view given(text, strnlen(text, kLongestText + kLongestCharacter));
  std::string shown;
  for (size_t at = 0; at < given.size();) {
    const size_t size = CharacterAt(given.substr(at));
    const std::string_view next = size == 0 ? "\uFFFD" : given.substr(at, size);
    if (shown.size() + next.size() > kLongestText) break;
    shown += next;
    at += size == 0 ? 1 : size;
  }
  return shown;
}

}  // namespace headrace
