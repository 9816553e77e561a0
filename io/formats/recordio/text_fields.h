// `ForEachLine`, `WithoutSpaces` and `ReadNumber` read lines and numbers of small text files, such as indices and image
// lists, as Python's readline, strip, int and float do.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_TEXT_FIELDS_H_
#define HEADRACE_IO_FORMATS_RECORDIO_TEXT_FIELDS_H_

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "core/stop_signal.h"

namespace headrace {

inline std::string_view WithoutSpaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\v\f";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// Calls take(number, line) for each line that is not empty, without the spaces around it, until it returns an error.
// Numbers count from 1. A byte order mark at the start is left out. kClosed if StopSignal is raised.
template <typename Take>
absl::Status ForEachLine(std::string_view text, Take take) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.substr(0, kMark.size()) == kMark) text.remove_prefix(kMark.size());
  constexpr size_t kLinesAtOnce = size_t{1} << 16;
  for (size_t number = 1; !text.empty(); ++number) {
    if (number % kLinesAtOnce == 0 && StopSignal::Raised()) return StopSignal::Error();
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = WithoutSpaces(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (absl::Status status = take(number, line); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// False unless the whole text is a number that T holds.
template <typename T>
bool ReadNumber(std::string_view text, T& number) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end;
}

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_TEXT_FIELDS_H_
