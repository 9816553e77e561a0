#include "io/files/s3/profile_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/error.h"

namespace headrace::s3 {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view TakeLine(std::string_view& rest) {
  const size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

// A comment after a value begins with a blank.
std::string_view WithoutComment(std::string_view value) {
  for (size_t i = 1; i < value.size(); ++i) {
    const bool sign = value[i] == '#' || value[i] == ';';
    if (sign && kBlanks.find(value[i - 1]) != std::string_view::npos) return Trimmed(value.substr(0, i));
  }
  return value;
}

std::string LowerName(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// The profile that a section is; nullopt: it is not a profile.
std::optional<std::string> ProfileOfSection(std::string_view section, ProfileNames names) {
  section = Trimmed(section);
  constexpr std::string_view kWord = "profile";
  const bool word = section.size() > kWord.size() && section.starts_with(kWord) &&
                    kBlanks.find(section[kWord.size()]) != std::string_view::npos;
  if (word) return std::string(Trimmed(section.substr(kWord.size())));
  if (names == ProfileNames::kWithWord && section != "default") return std::nullopt;
  return std::string(section);
}

}  // namespace

absl::StatusOr<Profiles> ParseProfiles(std::string_view path, std::string_view text, ProfileNames names) {
  Profiles profiles;
  Profile* profile = nullptr;  // null: in a section that is not a profile
  bool in_section = false;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (int64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = TakeLine(text);
    const std::string_view shown = Trimmed(line);
    if (shown.empty() || shown.front() == '#' || shown.front() == ';') continue;
    // Settings of a setting ("s3 =" and lines below it) are not read.
    if (kBlanks.find(line.front()) != std::string_view::npos) continue;
    if (shown.front() == '[') {
      const size_t end = shown.find(']');
      if (end == std::string_view::npos) {
        return DataError(path, ": a section has no ']' at its end, in line ", number);
      }
      const std::optional<std::string> name = ProfileOfSection(shown.substr(1, end - 1), names);
      profile = name.has_value() ? &profiles[*name] : nullptr;
      in_section = true;
      continue;
    }
    const size_t equals = shown.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return DataError(path, ": a line is neither a section nor a setting with '=', line ", number);
    }
    if (!in_section) return DataError(path, ": a setting comes before the first section, in line ", number);
    if (profile == nullptr) continue;
    (*profile)[LowerName(Trimmed(shown.substr(0, equals)))] = WithoutComment(Trimmed(shown.substr(equals + 1)));
  }
  return profiles;
}

void MergeProfiles(Profiles& into, const Profiles& over) {
  for (const auto& [name, profile] : over) {
    Profile& merged = into[name];
    for (const auto& [setting, value] : profile) merged[setting] = value;
  }
}

}  // namespace headrace::s3
