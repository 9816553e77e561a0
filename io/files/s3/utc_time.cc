#include "io/files/s3/utc_time.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace headrace::s3 {
namespace {

using std::chrono::sys_days;

// The number of these digits alone; -1: they are not digits.
int DigitsAt(std::string_view text, size_t begin, size_t count) {
  if (text.size() < begin + count) return -1;
  int number = 0;
  for (const char c : text.substr(begin, count)) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

struct CivilTime {
  int year, month, day, hour, minute, second;
};

std::optional<int64_t> SecondsOf(const CivilTime& time) {
  const bool in_range = time.year >= 0 && time.hour >= 0 && time.hour < 24 && time.minute >= 0 && time.minute < 60 &&
                        time.second >= 0 && time.second <= 60 && time.month > 0 && time.day > 0;
  if (!in_range) return std::nullopt;
  const std::chrono::year_month_day day(std::chrono::year(time.year),
                                        std::chrono::month(static_cast<unsigned>(time.month)),
                                        std::chrono::day(static_cast<unsigned>(time.day)));
  if (!day.ok()) return std::nullopt;
  const int64_t days = sys_days(day).time_since_epoch().count();
  return ((days * 24 + time.hour) * 60 + time.minute) * 60 + time.second;
}

void AppendTwo(std::string& text, unsigned number) {
  text += static_cast<char>('0' + number / 10);
  text += static_cast<char>('0' + number % 10);
}

}  // namespace

std::string SigningTime(int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(std::max<int64_t>(0, seconds))};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  const auto year = static_cast<unsigned>(static_cast<int>(date.year()));
  std::string text;
  AppendTwo(text, year / 100 % 100);
  AppendTwo(text, year % 100);
  AppendTwo(text, static_cast<unsigned>(date.month()));
  AppendTwo(text, static_cast<unsigned>(date.day()));
  text += 'T';
  AppendTwo(text, static_cast<unsigned>(clock.hours().count()));
  AppendTwo(text, static_cast<unsigned>(clock.minutes().count()));
  AppendTwo(text, static_cast<unsigned>(clock.seconds().count()));
  text += 'Z';
  return text;
}

std::optional<int64_t> ParseUtcTime(std::string_view text) {
  constexpr size_t kWhole = std::string_view("2026-11-30T03:00:00").size();
  if (text.size() <= kWhole || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') ||
      text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  std::string_view zone = text.substr(kWhole);
  if (zone.starts_with('.')) zone.remove_prefix(std::min(zone.size(), zone.find_first_not_of("0123456789", 1)));
  if (zone != "Z" && zone != "+00:00" && zone != "+0000") return std::nullopt;
  return SecondsOf({DigitsAt(text, 0, 4), DigitsAt(text, 5, 2), DigitsAt(text, 8, 2), DigitsAt(text, 11, 2),
                    DigitsAt(text, 14, 2), DigitsAt(text, 17, 2)});
}

int64_t NowSeconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace headrace::s3
