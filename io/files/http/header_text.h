// `IsHeader` and `IsStrongEtag` compare what stands in HTTP's headers. Threads: pure functions.
#ifndef HEADRACE_IO_FILES_HTTP_HEADER_TEXT_H_
#define HEADRACE_IO_FILES_HTTP_HEADER_TEXT_H_

#include <algorithm>
#include <string>
#include <string_view>

namespace headrace::http {

inline char InLowerCase(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

inline std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) letter = InLowerCase(letter);
  return lower;
}

// Whether a header has this name, given in lower case.
inline bool IsHeader(std::string_view name, std::string_view lower) {
  return std::equal(name.begin(), name.end(), lower.begin(), lower.end(),
                    [](char letter, char wanted) { return InLowerCase(letter) == wanted; });
}

// Whether equal ETags mean equal bytes: a weak one ('W/"…"') may stay while they change.
inline bool IsStrongEtag(std::string_view etag) { return etag.size() >= 2 && etag.front() == '"'; }

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_HEADER_TEXT_H_
