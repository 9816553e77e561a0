#include "ops/source/lines/number_text.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "absl/strings/charconv.h"
#include "ops/source/declared_fields.h"

namespace headrace {
namespace {

bool ReadBool(std::string_view text, bool& value) {
  value = text == "true" || text == "True" || text == "TRUE" || text == "1";
  return value || text == "false" || text == "False" || text == "FALSE" || text == "0";
}

// Of a magnitude that from_chars found outside of the range: 0, if it is below.
template <typename T>
bool ReadTiny(std::string_view text, T& value) {
  double found = 0;
  absl::from_chars(text.data(), text.data() + text.size(), found);
  if (std::abs(found) >= 1) return false;
  value = text.front() == '-' ? -T{0} : T{0};
  return true;
}

template <typename T>
bool ReadAny(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [at, wrong] = std::from_chars(text.data(), end, value);
  if (wrong == std::errc::invalid_argument || at != end) return false;
  if constexpr (std::is_floating_point_v<T>) {
    if (wrong == std::errc::result_out_of_range) return ReadTiny(text, value);
  }
  return wrong == std::errc();
}

}  // namespace

template <typename T>
bool ReadNumber(std::string_view text, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return ReadBool(text, value);
  } else {
    if (text.substr(0, 1) == "+") {
      text.remove_prefix(1);
      if (text.substr(0, 1) == "-") return false;
    }
    // "nan(…)" is C's.
    if (text.empty() || text.back() == ')') return false;
    return ReadAny(text, value);
  }
}

template bool ReadNumber(std::string_view, bool&);
template bool ReadNumber(std::string_view, int8_t&);
template bool ReadNumber(std::string_view, int16_t&);
template bool ReadNumber(std::string_view, int32_t&);
template bool ReadNumber(std::string_view, int64_t&);
template bool ReadNumber(std::string_view, uint8_t&);
template bool ReadNumber(std::string_view, uint16_t&);
template bool ReadNumber(std::string_view, uint32_t&);
template bool ReadNumber(std::string_view, uint64_t&);
template bool ReadNumber(std::string_view, float&);
template bool ReadNumber(std::string_view, double&);

bool ReadNumber(std::string_view text, DType dtype, void* target) {
  return WithFieldType(dtype, [&](auto zero) { return ReadNumber(text, *static_cast<decltype(zero)*>(target)); });
}

}  // namespace headrace
