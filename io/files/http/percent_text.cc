#include "io/files/http/percent_text.h"

#include <cstddef>
#include <cstdint>

namespace headrace::http {
namespace {

constexpr std::string_view kPercentDigits = "0123456789ABCDEF";

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

void AppendPercent(std::string& text, char byte) {
  const auto bits = static_cast<uint8_t>(byte);
  text += {'%', kPercentDigits[bits >> 4], kPercentDigits[bits & 15]};
}

std::string PercentEncoded(std::string_view bytes, Slash slash) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    if (IsUnreserved(c) || (c == '/' && slash == Slash::kKept)) {
      text += c;
      continue;
    }
    AppendPercent(text, c);
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

}  // namespace headrace::http
