// `Decimal` and `Right` write numbers in decimal form, and texts as columns of a table. Unlike absl::StrFormat, they
// throw std::bad_alloc when out of memory, and do not end the process; unlike printf, they ignore the locale.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_REPORT_DECIMAL_H_
#define HEADRACE_ENGINE_REPORT_DECIMAL_H_

#include <charconv>
#include <string>
#include <string_view>

namespace headrace {

// With that many digits after the point.
inline std::string Decimal(double value, int digits) {
  char text[400];
  return {text, std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, digits).ptr};
}

// Filled up with spaces on the left, or as it is if it is longer.
inline std::string Right(std::string_view text, size_t width) {
  std::string right(text.size() < width ? width - text.size() : 0, ' ');
  return right += text;
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_REPORT_DECIMAL_H_
