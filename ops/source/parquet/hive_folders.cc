#include "ops/source/parquet/hive_folders.h"

#include <charconv>
#include <functional>
#include <map>
#include <system_error>

namespace headrace {
namespace {

// -1: it is no digit.
int HexDigit(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  if (character >= 'A' && character <= 'F') return character - 'A' + 10;
  return -1;
}

std::string WithoutPercents(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape =
        text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 && HexDigit(text[i + 2]) >= 0;
    plain.push_back(escape ? static_cast<char>(16 * HexDigit(text[i + 1]) + HexDigit(text[i + 2])) : text[i]);
    if (escape) i += 2;
  }
  return plain;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> HiveFolders(std::string_view path) {
  std::vector<std::pair<std::string, std::string>> found;
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    const std::string_view folder = path.substr(0, slash);
    path.remove_prefix(slash + 1);
    const size_t sign = folder.find('=');
    if (sign == std::string_view::npos || sign == 0) continue;
    found.emplace_back(WithoutPercents(folder.substr(0, sign)), WithoutPercents(folder.substr(sign + 1)));
  }
  return found;
}

std::optional<int64_t> HiveNumber(std::string_view value) {
  int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [after, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || after != end || std::to_string(number) != value) return std::nullopt;
  return number;
}

std::vector<std::pair<std::string, DType>> FolderColumns(const PathArena& paths) {
  std::map<std::string, DType, std::less<>> types;
  for (int64_t i = 0; i < paths.size(); ++i) {
    for (const auto& [name, value] : HiveFolders(paths[i])) {
      DType& type = types.try_emplace(name, DType::kInt64).first->second;
      if (value != kHiveMissing && !HiveNumber(value).has_value()) type = DType::kString;
    }
  }
  std::vector<std::pair<std::string, DType>> columns;
  if (paths.empty()) return columns;
  for (const auto& [name, value] : HiveFolders(paths[0])) {
    const auto found = types.find(name);
    // A key that two folders have is a column once.
    if (found == types.end()) continue;
    columns.emplace_back(name, found->second);
    types.erase(found);
  }
  return columns;
}

}  // namespace headrace
