#include "core/printable.h"

#include <algorithm>
#include <iterator>

#include "core/path_text.h"
#include "core/utf8.h"

namespace headrace {
namespace {

struct CodePoints {
  uint32_t first;
  uint32_t last;
};

// Unicode 15: categories Cc, Zl and Zp, and those characters of Cf that show nothing or turn the direction of writing;
// but not the joiners U+200C and U+200D, which scripts and emoji need. The last are bytes of a path (core/path_text.h).
constexpr CodePoints kUnprintable[] = {
    {0x0000, 0x001F}, {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x061C, 0x061C},   {0x180E, 0x180E},
    {0x200B, 0x200B}, {0x200E, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0xFEFF, 0xFEFF},
    {0xFFF9, 0xFFFB}, {0x1D173, 0x1D17A}, {0xE0001, 0xE0001}, {0xE0020, 0xE007F}, {kFirstPathByte, 0x10FFFF}};

bool IsPrintableAscii(char byte) { return byte >= ' ' && byte < 0x7F; }

void AppendHex(std::string& text, uint32_t number, int digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += kDigits[number >> shift & 0xF];
}

void AppendByte(std::string& text, uint32_t byte) {
  text += "\\x";
  AppendHex(text, byte, 2);
}

void AppendEscapeOfMessage(std::string& text, uint32_t code_point) {
  if (code_point == '\n') {
    text += "\\n";
  } else if (code_point == '\t') {
    text += "\\t";
  } else if (code_point == '\r') {
    text += "\\r";
  } else if (code_point < 0x80) {
    AppendByte(text, code_point);
  } else if (code_point >= kFirstPathByte) {
    AppendByte(text, 0x80 + (code_point - kFirstPathByte));
  } else {
    AppendEscape(text, code_point, Escapes::kPython);
  }
}

std::string MadePrintable(std::string_view bytes, bool keeps_lines) {
  if (std::all_of(bytes.begin(), bytes.end(), IsPrintableAscii)) return std::string(bytes);
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Character next = TakeCharacter(bytes);
    if (!next.code_point.has_value()) {
      AppendByte(text, static_cast<uint8_t>(next.bytes[0]));
    } else if (IsUnprintable(*next.code_point) && !(keeps_lines && *next.code_point == '\n')) {
      AppendEscapeOfMessage(text, *next.code_point);
    } else {
      text += next.bytes;
    }
  }
  return text;
}

bool IsWithinCharacter(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

}  // namespace

std::string Printable(std::string_view bytes) { return MadePrintable(bytes, /*keeps_lines=*/false); }

std::string PrintableLines(std::string_view text) { return MadePrintable(text, /*keeps_lines=*/true); }

std::string PrintableStart(std::string_view bytes, size_t most) {
  if (bytes.size() <= most) return Printable(bytes);
  size_t size = most;
  while (size > 0 && IsWithinCharacter(bytes[size])) --size;
  return Printable(bytes.substr(0, size)) + "…";
}

bool IsUnprintable(uint32_t code_point) {
  const auto* const found =
      std::lower_bound(std::begin(kUnprintable), std::end(kUnprintable), code_point,
                       [](const CodePoints& points, uint32_t wanted) { return points.last < wanted; });
  return found != std::end(kUnprintable) && found->first <= code_point;
}

void AppendEscape(std::string& text, uint32_t code_point, Escapes escapes) {
  if (code_point < 0x10000) {
    text += "\\u";
    AppendHex(text, code_point, 4);
  } else if (escapes == Escapes::kPython) {
    text += "\\U";
    AppendHex(text, code_point, 8);
  } else {
    const uint32_t beyond = code_point - 0x10000;
    text += "\\u";
    AppendHex(text, 0xD800 + (beyond >> 10), 4);
    text += "\\u";
    AppendHex(text, 0xDC00 + (beyond & 0x3FF), 4);
  }
}

std::string EscapeInLiterals(std::string_view text, Escapes escapes) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const Character next = TakeCharacter(text);
    const uint32_t code_point = next.code_point.value_or(0);
    if (code_point >= ' ' && IsUnprintable(code_point)) {
      AppendEscape(escaped, code_point, escapes);
    } else {
      escaped += next.bytes;
    }
  }
  return escaped;
}

std::string JsonText(std::string_view bytes) {
  std::string literal = "\"";
  while (!bytes.empty()) {
    const Character next = TakeCharacter(bytes);
    const uint32_t code_point = next.code_point.value_or(0xDC00 + static_cast<uint8_t>(next.bytes[0]));
    if (code_point == '"' || code_point == '\\') literal += '\\';
    if (code_point == '\n') {
      literal += "\\n";
    } else if (code_point == '\t') {
      literal += "\\t";
    } else if (code_point == '\r') {
      literal += "\\r";
    } else if (code_point == '\b') {
      literal += "\\b";
    } else if (code_point == '\f') {
      literal += "\\f";
    } else if (!next.code_point.has_value() || IsUnprintable(code_point)) {
      AppendEscape(literal, code_point, Escapes::kJson);
    } else {
      literal += next.bytes;
    }
  }
  return literal + "\"";
}

}  // namespace headrace
