#include "io/files/http/content_range.h"

#include <charconv>
#include <cstddef>

namespace headrace::http {
namespace {

std::optional<int64_t> RangeNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '-') return std::nullopt;
  return value;
}

}  // namespace

std::optional<ContentRange> ParseContentRange(std::string_view value) {
  constexpr std::string_view kUnit = "bytes ";
  if (value.substr(0, kUnit.size()) != kUnit) return std::nullopt;
  value.remove_prefix(kUnit.size());
  const size_t slash = value.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view part = value.substr(0, slash);
  const std::string_view whole = value.substr(slash + 1);
  ContentRange range;
  if (whole != "*") {
    const std::optional<int64_t> size = RangeNumber(whole);
    if (!size) return std::nullopt;
    range.size = *size;
  }
  if (part == "*") return range.size < 0 ? std::nullopt : std::optional(range);
  const size_t dash = part.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> first = RangeNumber(part.substr(0, dash));
  const std::optional<int64_t> last = RangeNumber(part.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  if (range.size >= 0 && *last >= range.size) return std::nullopt;
  range.first = *first;
  range.last = *last;
  return range;
}

}  // namespace headrace::http
