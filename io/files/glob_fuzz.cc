// Fuzzes patterns and names: matching ends, and a name matches itself once its special characters are in brackets.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/testing/require.h"
#include "io/files/glob.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view pattern = input.substr(0, input.find('\0'));
  const std::string_view name = input.substr(std::min(input.size(), pattern.size() + 1));
  headrace::MatchesPattern(pattern, name);
  std::string plain;
  for (const char letter : name) {
    const bool sign = letter == '*' || letter == '?' || letter == '[';
    plain += sign ? std::string{'[', letter, ']'} : std::string{letter};
  }
  headrace::Require(headrace::MatchesPattern(plain, name), "a name matches itself");
  return 0;
}
