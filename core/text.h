// `Cat` and `Append` join text and numbers. Debian's Abseil has its own string_view, which std::string_view does not
// convert to; these functions take both, so that the rest of the code uses only std. Numbers are written as
// absl::StrCat writes them. Thousands of calls make the messages of errors, so a call passes what it has in registers,
// with a letter for each type, and all else is done out of line. Threads: pure functions.
#ifndef HEADRACE_CORE_TEXT_H_
#define HEADRACE_CORE_TEXT_H_

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace headrace {

inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view ToStd(absl::string_view text) { return {text.data(), text.size()}; }

namespace text_internal {

// How a part is passed.
inline constexpr char kCString = 'c';   // const char*; null: no text
inline constexpr char kString = 's';    // const std::string*
inline constexpr char kView = 'v';      // View
inline constexpr char kSigned = 'i';    // int64_t
inline constexpr char kUnsigned = 'u';  // uint64_t
inline constexpr char kDouble = 'd';    // double
inline constexpr char kOther = '?';     // what absl::StrCat alone takes, such as absl::Hex

// A std::string_view is no type that C lets a call pass in a list of any length.
struct View {
  const char* data;
  size_t size;
};

template <typename T>
constexpr char LetterOf() {
  static_assert(!std::is_same_v<T, char>, "a character is a text, too: write \":\"");
  if constexpr (std::is_enum_v<T>) {
    return LetterOf<std::underlying_type_t<T>>();
  } else if constexpr (std::is_floating_point_v<T>) {
    return kDouble;
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? kSigned : kUnsigned;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return kString;
  } else if constexpr (std::is_same_v<T, std::string_view> || std::is_same_v<T, absl::string_view>) {
    return kView;
  } else {
    return std::is_convertible_v<const T&, const char*> ? kCString : kOther;
  }
}

template <typename... Parts>
inline constexpr bool kPassed = ((LetterOf<Parts>() != kOther) && ...);

// One list for all calls with parts of these letters.
template <char... letters>
inline constexpr char kLetters[] = {letters..., '\0'};

template <typename T>
[[gnu::always_inline]] inline auto Passed(const T& part) {
  constexpr char letter = LetterOf<T>();
  if constexpr (letter == kDouble) {
    return static_cast<double>(part);
  } else if constexpr (letter == kSigned) {
    return static_cast<int64_t>(part);
  } else if constexpr (letter == kUnsigned) {
    return static_cast<uint64_t>(part);
  } else if constexpr (letter == kString) {
    return &part;
  } else if constexpr (letter == kView) {
    return View{part.data(), part.size()};
  } else {
    return static_cast<const char*>(part);
  }
}

template <typename T>
decltype(auto) ForAbsl(const T& part) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return ToAbsl(part);
  } else {
    return (part);
  }
}

// The parts, passed as `letters` say, as one text.
std::string Joined(const char* letters, ...);
std::string JoinedList(const char* letters, va_list parts);
void AppendJoined(std::string& text, const char* letters, ...);

}  // namespace text_internal

template <typename... Parts>
[[gnu::always_inline]] inline std::string Cat(const Parts&... parts) {
  using namespace text_internal;
  if constexpr (kPassed<Parts...>) {
    return Joined(kLetters<LetterOf<Parts>()...>, Passed(parts)...);
  } else {
    return absl::StrCat(ForAbsl(parts)...);
  }
}

// No part is in `text`.
template <typename... Parts>
[[gnu::always_inline]] inline void Append(std::string& text, const Parts&... parts) {
  using namespace text_internal;
  if constexpr (kPassed<Parts...>) {
    AppendJoined(text, kLetters<LetterOf<Parts>()...>, Passed(parts)...);
  } else {
    absl::StrAppend(&text, ForAbsl(parts)...);
  }
}

}  // namespace headrace

#endif  // HEADRACE_CORE_TEXT_H_
