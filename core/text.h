// `Cat` and `Append` join text and numbers. Debian's Abseil has its own string_view, which std::string_view does not
// convert to; these functions take both, so that the rest of the code uses only std.
// Threads: pure functions.
#ifndef HEADRACE_CORE_TEXT_H_
#define HEADRACE_CORE_TEXT_H_

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace headrace {

inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view ToStd(absl::string_view text) { return {text.data(), text.size()}; }

namespace text_internal {
template <typename T>
decltype(auto) Part(const T& part) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return ToAbsl(part);
  } else {
    return (part);
  }
}
}  // namespace text_internal

template <typename... Parts>
std::string Cat(const Parts&... parts) {
  return absl::StrCat(text_internal::Part(parts)...);
}

template <typename... Parts>
void Append(std::string& text, const Parts&... parts) {
  absl::StrAppend(&text, text_internal::Part(parts)...);
}

}  // namespace headrace

#endif  // HEADRACE_CORE_TEXT_H_
