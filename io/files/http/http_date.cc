#include "io/files/http/http_date.h"

#include <chrono>
#include <cstddef>

namespace headrace::http {
namespace {

constexpr std::string_view kForm = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

std::optional<int> DigitsAt(std::string_view text, size_t at, size_t count) {
  int value = 0;
  for (const char letter : text.substr(at, count)) {
    if (letter < '0' || letter > '9') return std::nullopt;
    value = value * 10 + (letter - '0');
  }
  return value;
}

}  // namespace

std::optional<int64_t> ParseHttpDate(std::string_view text) {
  if (text.size() != kForm.size() || text.substr(25) != " GMT") return std::nullopt;
  const size_t month = kMonths.find(text.substr(8, 3));
  const auto day = DigitsAt(text, 5, 2);
  const auto year = DigitsAt(text, 12, 4);
  const auto hour = DigitsAt(text, 17, 2);
  const auto minute = DigitsAt(text, 20, 2);
  const auto second = DigitsAt(text, 23, 2);
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  if (!day || !year || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(month / 3 + 1),
                                         std::chrono::day(*day)};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + *hour) * 60 + *minute) * 60 + *second;
}

}  // namespace headrace::http
