#include <algorithm>
#include <optional>
#include <string_view>

#include "io/files/glob.h"

namespace headrace {
namespace {

// Takes one UTF-8 character off the front; an invalid byte is taken alone.
std::string_view TakeCharacter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  size_t bytes = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (bytes > text.size()) bytes = 1;
  for (size_t i = 1; i < bytes; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) bytes = 1;
  }
  const std::string_view character = text.substr(0, bytes);
  text.remove_prefix(bytes);
  return character;
}

// The end of the bracket class that begins `pattern`, or 0: a bracket that is not closed is a plain character. The
// first character belongs to the class even if it is ']'.
size_t ClassBytes(std::string_view pattern) {
  const size_t first = pattern.size() > 1 && (pattern[1] == '!' || pattern[1] == '^') ? 2 : 1;
  const size_t close = first + 1 <= pattern.size() ? pattern.find(']', first + 1) : std::string_view::npos;
  return close == std::string_view::npos ? 0 : close + 1;
}

// `members` is the text between the brackets. The byte order of UTF-8 is the order of its characters.
bool ClassHas(std::string_view members, std::string_view character) {
  const bool others = members[0] == '!' || members[0] == '^';
  if (others) members.remove_prefix(1);
  bool found = false;
  while (!members.empty()) {
    const std::string_view low = TakeCharacter(members);
    std::string_view high = low;
    if (members.size() > 1 && members[0] == '-') {
      members.remove_prefix(1);
      high = TakeCharacter(members);
    }
    found = found || (low <= character && character <= high);
  }
  return found != others;
}

// Matches one character of the pattern that is not a star; takes it off both.
bool TakeOne(std::string_view& pattern, std::string_view& name) {
  if (pattern.empty() || name.empty()) return false;
  const std::string_view character = TakeCharacter(name);
  if (pattern[0] == '[') {
    if (const size_t bytes = ClassBytes(pattern); bytes > 0) {
      const std::string_view members = pattern.substr(1, bytes - 2);
      pattern.remove_prefix(bytes);
      return ClassHas(members, character);
    }
  }
  const std::string_view wanted = TakeCharacter(pattern);
  return wanted == "?" || wanted == character;
}

}  // namespace

bool MatchesPattern(std::string_view pattern, std::string_view name) {
  if (!name.empty() && name[0] == '.' && (pattern.empty() || pattern[0] != '.')) return false;
  // Backtracks only to the last star: an earlier one that took more could gain nothing.
  std::optional<std::string_view> after_star;
  std::string_view star_name;
  while (true) {
    if (!pattern.empty() && pattern[0] == '*') {
      pattern.remove_prefix(1);
      after_star = pattern;
      star_name = name;
      continue;
    }
    if (pattern.empty() && name.empty()) return true;
    if (TakeOne(pattern, name)) continue;
    if (!after_star || star_name.empty()) return false;
    TakeCharacter(star_name);
    pattern = *after_star;
    name = star_name;
  }
}

}  // namespace headrace
