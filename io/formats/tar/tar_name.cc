#include "io/formats/tar/tar_name.h"

#include <algorithm>

namespace headrace {
namespace {

char LowerByte(char byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte; }

bool IsMeta(std::string_view path) {
  constexpr std::string_view kAround = "__";
  const std::string_view first = path.substr(0, path.find('/'));
  return first.size() >= 2 * kAround.size() && first.substr(0, kAround.size()) == kAround &&
         first.substr(first.size() - kAround.size()) == kAround;
}

}  // namespace

std::optional<TarName> TarNameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  const size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const size_t dot = path.find('.', base);
  if (dot == std::string_view::npos || dot == base || IsMeta(path)) return std::nullopt;
  return TarName{path.substr(0, dot), path.substr(dot + 1)};
}

std::string LowerField(std::string_view field) {
  std::string lower(field);
  MakeLower(lower);
  return lower;
}

void MakeLower(std::string& field) { std::transform(field.begin(), field.end(), field.begin(), LowerByte); }

}  // namespace headrace
