#include "ir/graph_tokens.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "core/error.h"
#include "core/utf8.h"

namespace headrace::ir {
namespace {

constexpr int kTabWidth = 8;

bool IsSpaceOfText(char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); }
bool IsDigitOfText(char c) { return c >= '0' && c <= '9'; }
bool IsOctalDigit(char c) { return c >= '0' && c <= '7'; }
bool IsHexDigit(char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); }
bool IsLetterOfName(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsPartOfName(char c) { return IsLetterOfName(c) || IsDigitOfText(c); }

// Takes up to `most` digits off `text`.
uint32_t TakeDigits(std::string_view& text, size_t most, int base) {
  uint32_t code = 0;
  const char* const begin = text.data();
  const auto [stop, error] = std::from_chars(begin, begin + std::min(most, text.size()), code, base);
  text.remove_prefix(static_cast<size_t>(stop - begin));
  return code;
}

// After "\u" or "\U". Two escapes may be one character, as in JSON.
bool AppendCodePoint(std::string_view& text, size_t digits, std::string& result) {
  const auto between = [](uint32_t code, uint32_t begin, uint32_t end) { return code >= begin && code < end; };
  uint32_t code = TakeDigits(text, digits, 16);
  if (between(code, 0xD800, 0xDC00) && text.substr(0, 2) == "\\u") {
    std::string_view after = text.substr(2);
    const uint32_t low = TakeDigits(after, 4, 16);
    if (!between(low, 0xDC00, 0xE000)) return false;
    code = 0x10000 + ((code - 0xD800) << 10 | (low - 0xDC00));
    text = after;
  }
  if (between(code, 0xD800, 0xE000)) return false;
  if (code > 0x10FFFF) {
    // As protobuf reads it.
    Append(result, "\\U", absl::Hex(code, absl::kZeroPad8));
  } else {
    AppendUtf8(result, code);
  }
  return true;
}

char EscapedCharacter(char letter) {
  switch (letter) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return letter;
  }
}

}  // namespace

absl::Status WrongGraphText(int line, int column, std::string_view why) {
  return GraphError("this is not the text of a Headrace graph: line ", line + 1, ", column ", column + 1, ": ", why);
}

absl::Status GraphTokens::Wrong(std::string_view why) const { return WrongGraphText(line_, column_, why); }

void GraphTokens::Advance() {
  if (at_ >= text_.size()) return;
  const char passed = text_[at_++];
  if (passed == '\n') {
    ++line_;
    column_ = 0;
  } else if (passed == '\t') {
    column_ += kTabWidth - column_ % kTabWidth;
  } else {
    ++column_;
  }
}

template <typename Class>
size_t GraphTokens::AdvanceWhile(Class in_class) {
  const size_t begin = at_;
  while (at_ < text_.size() && in_class(text_[at_])) Advance();
  return at_ - begin;
}

bool GraphTokens::Take(char character) {
  if (at_ == text_.size() || text_[at_] != character) return false;
  Advance();
  return true;
}

void GraphTokens::PassSpace() {
  while (AdvanceWhile(IsSpaceOfText) > 0 || Peek() == '#') {
    if (Peek() == '#') AdvanceWhile([](char c) { return c != '\n' && c != '\0'; });
  }
}

absl::Status GraphTokens::Next() {
  const size_t end_of_last = at_;
  PassSpace();
  const bool after_name = token_.kind == GraphTokenKind::kName && at_ == end_of_last;
  token_ = {.kind = GraphTokenKind::kEnd, .text = "", .line = line_, .column = column_};
  const size_t begin = at_;
  if (at_ == text_.size()) return absl::OkStatus();
  HEADRACE_RETURN_IF_ERROR(ReadToken(after_name));
  token_.text = text_.substr(begin, at_ - begin);
  return absl::OkStatus();
}

absl::Status GraphTokens::ReadToken(bool after_name) {
  const char first = Peek();
  if (first >= '\0' && first < ' ') return Wrong("a control character outside of a string");
  if (first < '\0') return Wrong(Cat("a byte outside of a string that is not ASCII: ", static_cast<uint8_t>(first)));
  Advance();
  if (IsLetterOfName(first)) {
    token_.kind = GraphTokenKind::kName;
    AdvanceWhile(IsPartOfName);
    return absl::OkStatus();
  }
  const bool begins_with_point = first == '.' && IsDigitOfText(Peek());
  if (begins_with_point && after_name) {
    return WrongGraphText(token_.line, token_.column, "a space is missing between the name and the number");
  }
  if (IsDigitOfText(first) || begins_with_point) return ReadNumber(first);
  if (first == '"' || first == '\'') return ReadString(first);
  token_.kind = GraphTokenKind::kSymbol;
  return absl::OkStatus();
}

absl::Status GraphTokens::ReadNumber(char first) {
  bool real = first == '.';
  if (first == '0' && (Take('x') || Take('X'))) {
    if (AdvanceWhile(IsHexDigit) == 0) return Wrong("\"0x\" without hexadecimal digits");
  } else if (first == '0' && IsDigitOfText(Peek())) {
    AdvanceWhile(IsOctalDigit);
    if (IsDigitOfText(Peek())) return Wrong("a number that begins with 0 is octal");
  } else {
    AdvanceWhile(IsDigitOfText);
    if (!real && Take('.')) {
      real = true;
      AdvanceWhile(IsDigitOfText);
    }
    if (Take('e') || Take('E')) {
      real = true;
      if (!Take('-')) Take('+');
      if (AdvanceWhile(IsDigitOfText) == 0) return Wrong("\"e\" without an exponent");
    }
    if (Take('f') || Take('F')) real = true;
  }
  if (IsLetterOfName(Peek())) return Wrong("a space is missing between the number and the name");
  if (Peek() == '.') return Wrong("a decimal point that its number cannot have");
  token_.kind = real ? GraphTokenKind::kReal : GraphTokenKind::kWhole;
  return absl::OkStatus();
}

absl::Status GraphTokens::ReadString(char quote) {
  token_.kind = GraphTokenKind::kString;
  while (!Take(quote)) {
    if (Peek() == '\0') return Wrong("the string does not end");
    if (Peek() == '\n') return Wrong("a string ends on its line");
    if (Take('\\')) {
      HEADRACE_RETURN_IF_ERROR(ReadEscape());
    } else {
      Advance();
    }
  }
  return absl::OkStatus();
}

absl::Status GraphTokens::ReadEscape() {
  const auto take_hex = [&](int digits) {
    while (digits > 0 && IsHexDigit(Peek())) {
      Advance();
      --digits;
    }
    return digits == 0;
  };
  if (Take('x')) return take_hex(1) ? absl::OkStatus() : Wrong("\"\\x\" without hexadecimal digits");
  if (Take('u')) return take_hex(4) ? absl::OkStatus() : Wrong("\"\\u\" without four hexadecimal digits");
  if (Take('U')) {
    const bool possible = Take('0') && Take('0') && (Take('0') || Take('1')) && take_hex(5);
    return possible ? absl::OkStatus() : Wrong("\"\\U\" without eight hexadecimal digits of a character");
  }
  constexpr std::string_view kAfterBackslash = "abfnrtv\\?'\"01234567";
  if (Peek() == '\0' || kAfterBackslash.find(Peek()) == std::string_view::npos) return Wrong("an unknown escape");
  Advance();
  return absl::OkStatus();
}

bool AppendGraphString(std::string_view token, std::string& text) {
  std::string_view rest = token.substr(1, token.size() - 2);
  while (!rest.empty()) {
    const size_t plain = std::min(rest.find('\\'), rest.size());
    text += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    const char letter = rest[1];
    rest.remove_prefix(IsOctalDigit(letter) ? 1 : 2);
    if (IsOctalDigit(letter)) {
      text += static_cast<char>(TakeDigits(rest, 3, 8));
    } else if (letter == 'x') {
      text += static_cast<char>(TakeDigits(rest, 2, 16));
    } else if (letter == 'u' || letter == 'U') {
      if (!AppendCodePoint(rest, letter == 'u' ? 4 : 8, text)) return false;
    } else {
      text += EscapedCharacter(letter);
    }
  }
  return true;
}

std::optional<uint64_t> GraphWhole(std::string_view token, uint64_t most) {
  const bool hex = token.size() > 1 && (token[1] == 'x' || token[1] == 'X');
  if (hex) token.remove_prefix(2);
  const int base = hex ? 16 : token[0] == '0' ? 8 : 10;
  uint64_t whole = 0;
  const std::from_chars_result read = std::from_chars(token.data(), token.data() + token.size(), whole, base);
  return read.ec == std::errc() && whole <= most ? std::optional(whole) : std::nullopt;
}

double GraphReal(std::string_view token) {
  if (token.back() == 'f' || token.back() == 'F') token.remove_suffix(1);
  double real = 0;
  // Infinite if it is too large.
  (void)absl::SimpleAtod(ToAbsl(token), &real);
  return real;
}

}  // namespace headrace::ir
