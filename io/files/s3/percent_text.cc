#include "io/files/s3/percent_text.h"

#include <cstddef>
#include <cstdint>

namespace headrace::s3 {
namespace {

constexpr std::string_view kUpperDigits = "0123456789ABCDEF";
constexpr std::string_view kLowerDigits = "0123456789abcdef";

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

// -1: not a digit.
int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string PercentEncoded(std::string_view bytes, Slash slash) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    if (IsUnreserved(c) || (c == '/' && slash == Slash::kKept)) {
      text += c;
      continue;
    }
    const auto byte = static_cast<uint8_t>(c);
    text += '%';
    text += kUpperDigits[byte >> 4];
    text += kUpperDigits[byte & 15];
  }
  return text;
}

std::string PercentDecoded(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high >= 0 ? HexDigit(text[i + 2]) : -1;
    if (low >= 0) {
      bytes += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      bytes += text[i] == '+' ? ' ' : text[i];
    }
  }
  return bytes;
}

std::string HexText(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    text += kLowerDigits[byte >> 4];
    text += kLowerDigits[byte & 15];
  }
  return text;
}

}  // namespace headrace::s3
