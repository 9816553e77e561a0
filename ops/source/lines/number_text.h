// `ReadNumber` reads numbers and bools from text, as fields of CSV have them.
//
// A number is what Python's int() and float() read, without underscores and digits beyond ASCII: an optional sign, then
// digits; of a float also a fraction, an exponent, "inf", "infinity" and "nan" in any case. A float has the bits of the
// nearest one, as Python's; beyond its range there is none, below it is 0. An integer must be in its dtype's range, and
// has neither point nor exponent. A bool is true, True, TRUE, 1, false, False, FALSE or 0.
// Threads: pure functions.
#ifndef HEADRACE_OPS_SOURCE_LINES_NUMBER_TEXT_H_
#define HEADRACE_OPS_SOURCE_LINES_NUMBER_TEXT_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "core/dtype.h"

namespace headrace {

// Whether the text, without spaces around it, is one of T, which is then in `value`. T: a type of WithFieldType.
template <typename T>
bool ReadNumber(std::string_view text, T& value);

// The same for a dtype of WithFieldType; `target` has room for one element. False for other dtypes.
bool ReadNumber(std::string_view text, DType dtype, void* target);

namespace number_internal {

inline bool IsDigit(char byte) { return static_cast<uint8_t>(byte - '0') < 10; }

// Appends digits to `number`, up to `stop`.
inline const char* TakeDigits(const char* at, const char* stop, uint64_t& number) {
  for (; at < stop && IsDigit(*at); ++at) number = number * 10 + static_cast<uint64_t>(*at - '0');
  return at;
}

// `at` + `most`, but not beyond `end`.
inline const char* Within(const char* at, std::ptrdiff_t most, const char* end) {
  return end - at > most ? at + most : end;
}

template <typename T>
const char* ReadPlainInteger(const char* at, const char* end, T& value) {
  constexpr std::ptrdiff_t kDigits = 18;  // of any value, in 64 bits
  const bool negative = std::is_signed_v<T> && at < end && *at == '-';
  const char* const digits = at + negative;
  uint64_t magnitude = 0;
  at = TakeDigits(digits, Within(digits, kDigits, end), magnitude);
  if (at == digits) return nullptr;
  const auto number = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  if constexpr (sizeof(T) < sizeof(int64_t)) {
    if (number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max()) return nullptr;
  }
  value = static_cast<T>(number);
  return at;
}

// Powers of ten that a double holds exactly.
inline constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                          1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};

// Whether the double is half-way between two floats: rounded already, it may have been on either side.
inline bool IsBetweenFloats(double number) {
  constexpr uint64_t kBelowFloat = (uint64_t{1} << 29) - 1;
  return (std::bit_cast<uint64_t>(number) & kBelowFloat) == uint64_t{1} << 28;
}

// Two exact doubles and one division, which rounds once (W. D. Clinger, "How to read floating point numbers
// accurately"). The result is 0 or at least 1e-19, so that a float of it is rounded where it would be by itself.
template <typename T>
const char* ReadPlainFloat(const char* at, const char* end, T& value) {
  constexpr std::ptrdiff_t kDigits = 19;  // of any value, in 64 bits
  constexpr uint64_t kExact = uint64_t{1} << 53;
  const bool negative = at < end && *at == '-';
  const char* const whole = at + negative;
  uint64_t digits = 0;
  at = TakeDigits(whole, Within(whole, kDigits, end), digits);
  std::ptrdiff_t count = at - whole;
  std::ptrdiff_t fraction = 0;
  if (at < end && *at == '.') {
    const char* const behind = at + 1;
    at = TakeDigits(behind, Within(behind, kDigits - count, end), digits);
    fraction = at - behind;
    count += fraction;
  }
  if (count == 0 || digits > kExact) return nullptr;
  const double magnitude = static_cast<double>(digits) / kPowersOfTen[fraction];
  if (std::is_same_v<T, float> && IsBetweenFloats(magnitude)) return nullptr;
  value = static_cast<T>(negative ? -magnitude : magnitude);
  return at;
}

}  // namespace number_internal

// Reads the number that begins at `at`, if it is in the usual form: digits, for floats with a point, perhaps after a
// minus. Returns the end of the parsed text; the caller checks that the field ends there. Null: the text has another
// form, or is no number, as ReadNumber tells.
template <typename T>
inline const char* ReadPlainNumber(const char* at, const char* end, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (at == end || (*at != '0' && *at != '1')) return nullptr;
    value = *at == '1';
    return at + 1;
  } else if constexpr (std::is_floating_point_v<T>) {
    return number_internal::ReadPlainFloat(at, end, value);
  } else {
    return number_internal::ReadPlainInteger(at, end, value);
  }
}

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_LINES_NUMBER_TEXT_H_
