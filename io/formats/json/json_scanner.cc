#include "io/formats/json/json_scanner.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/utf8.h"

namespace headrace {
namespace {

// Of a number; the digits of the longest double that is written out are fewer.
constexpr size_t kMaxNumber = 1024;

constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10,
                                   1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21};
// Whole numbers below are doubles.
constexpr uint64_t kExactWholes = uint64_t{1} << 53;
// Of a number in 64 bits that cannot overflow.
constexpr int kSafeDigits = 18;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsBlank(int c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool IsInNumber(char c) { return IsDigit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

// Takes the digits at the beginning of `text`; false: there are none.
bool TakeDigits(std::string_view& text) {
  const size_t count = static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsDigit) - text.begin());
  text.remove_prefix(count);
  return count > 0;
}

// Whether JSON has such a number.
bool IsJsonNumber(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with('0') && text.size() > 1 && IsDigit(text[1])) return false;
  if (!TakeDigits(text)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!TakeDigits(text)) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (!TakeDigits(text)) return false;
  }
  return text.empty();
}

JsonKind KindAt(int c) {
  switch (c) {
    case '{':
      return JsonKind::kObject;
    case '[':
      return JsonKind::kArray;
    case '"':
      return JsonKind::kText;
    case 't':
    case 'f':
      return JsonKind::kBool;
    case 'n':
      return JsonKind::kNull;
    default:
      return c == '-' || (c >= '0' && c <= '9') ? JsonKind::kNumber : JsonKind::kNothing;
  }
}

}  // namespace

JsonScanner::JsonScanner(std::unique_ptr<ByteStream> bytes, size_t block_bytes, size_t max_text)
    : bytes_(std::move(bytes)),
      block_bytes_(std::max(block_bytes, 2 * kMaxNumber)),
      max_text_(max_text),
      buffer_(std::make_unique<char[]>(block_bytes_)) {}

// At most kMaxNumber bytes are needed at once.
bool JsonScanner::Fill(size_t needed) {
  if (end_ - at_ >= needed) return true;
  if (drained_ || !ok()) return false;
  std::memmove(buffer_.get(), buffer_.get() + at_, end_ - at_);
  base_ += static_cast<int64_t>(at_);
  end_ -= at_;
  at_ = 0;
  while (end_ < needed) {
    auto* const target = reinterpret_cast<uint8_t*>(buffer_.get()) + end_;
    const absl::StatusOr<size_t> read = bytes_->Read({target, block_bytes_ - end_});
    if (!read.ok()) {
      status_ = read.status();
      // Nobody reads on from bytes that may be half of a value.
      end_ = 0;
      return false;
    }
    if (*read == 0) {
      drained_ = true;
      return false;
    }
    end_ += *read;
  }
  return true;
}

bool JsonScanner::Fail(std::string_view what) {
  if (ok()) status_ = DataError(what, ", at byte ", place());
  return false;
}

int JsonScanner::LookPastBlanks() {
  while (true) {
    const int c = Look();
    if (!IsBlank(c)) return ok() ? c : -1;
    ++at_;
  }
}

JsonKind JsonScanner::Peek() {
  const JsonKind kind = KindAt(LookPastBlanks());
  if (kind == JsonKind::kNothing) Fail("a value is missing, or is not JSON");
  return ok() ? kind : JsonKind::kNothing;
}

bool JsonScanner::Expect(char wanted, std::string_view what) {
  if (LookPastBlanks() != static_cast<uint8_t>(wanted)) return Fail(what);
  ++at_;
  return true;
}

bool JsonScanner::EnterObject() {
  if (!Expect('{', "an object was expected")) return false;
  fresh_ = true;
  return true;
}

bool JsonScanner::EnterArray() {
  if (!Expect('[', "a list was expected")) return false;
  fresh_ = true;
  return true;
}

bool JsonScanner::NextKey(std::string& key) {
  const bool first = std::exchange(fresh_, false);
  if (LookPastBlanks() == '}') {
    ++at_;
    return false;
  }
  if (!first && !Expect(',', "a comma or the end of the object was expected")) return false;
  if (LookPastBlanks() != '"') return Fail("a key of the object was expected");
  return ReadText(key) && Expect(':', "a colon was expected after the key");
}

bool JsonScanner::NextElement() {
  const bool first = std::exchange(fresh_, false);
  const int c = LookPastBlanks();
  if (c == ']') {
    ++at_;
    return false;
  }
  if (first) return c != -1 || Fail("the list is cut off");
  return Expect(',', "a comma or the end of the list was expected");
}

// Takes bytes that stand for themselves.
bool JsonScanner::AppendRun(std::string& text) {
  const char* const begin = buffer_.get() + at_;
  const char* const end = buffer_.get() + end_;
  const char* const stop =
      std::find_if(begin, end, [](char c) { return c == '"' || c == '\\' || static_cast<uint8_t>(c) < 0x20; });
  text.append(begin, stop);
  at_ += static_cast<size_t>(stop - begin);
  return text.size() <= max_text_ || Fail("a text is longer than any that is read");
}

bool JsonScanner::ReadHex(uint32_t& unit) {
  unit = 0;
  if (!Fill(4)) return Fail("an escape is cut off");
  const char* const begin = buffer_.get() + at_;
  const auto read = std::from_chars(begin, begin + 4, unit, 16);
  if (read.ec != std::errc() || read.ptr != begin + 4) return Fail("\\u needs four hexadecimal digits");
  at_ += 4;
  return true;
}

bool JsonScanner::AppendEscape(std::string& text) {
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  const int c = Look();
  if (c != 'u') {
    const size_t found = c < 0 ? std::string_view::npos : kEscapes.find(static_cast<char>(c));
    if (found == std::string_view::npos) return Fail("a backslash is followed by a character that has no meaning");
    text.push_back(kMeant[found]);
    ++at_;
    return true;
  }
  ++at_;
  uint32_t unit = 0;
  if (!ReadHex(unit)) return false;
  if (unit >= 0xd800 && unit < 0xdc00) {
    uint32_t low = 0;
    if (!Fill(2) || buffer_[at_] != '\\' || buffer_[at_ + 1] != 'u') return Fail("half of a surrogate pair is missing");
    at_ += 2;
    if (!ReadHex(low)) return false;
    if (low < 0xdc00 || low > 0xdfff) return Fail("half of a surrogate pair is missing");
    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
  } else if (unit >= 0xdc00 && unit <= 0xdfff) {
    return Fail("half of a surrogate pair is missing");
  }
  AppendUtf8(text, unit);
  return true;
}

bool JsonScanner::ReadText(std::string& text) {
  text.clear();
  fresh_ = false;
  if (!Expect('"', "a text was expected")) return false;
  while (true) {
    const int c = Look();
    if (c == '"') break;
    if (c == -1) return Fail("a text is cut off");
    if (c < 0x20) return Fail("a text has a control character, which is not JSON");
    if (c == '\\') {
      ++at_;
      if (!AppendEscape(text)) return false;
    } else if (!AppendRun(text)) {
      return false;
    }
  }
  ++at_;
  return IsUtf8(text) || Fail("a text is not UTF-8");
}

// Of any number of digits, and with an exponent.
bool JsonScanner::ReadLongNumber(JsonNumber& number) {
  const char* const begin = buffer_.get() + at_;
  const char* const end = buffer_.get() + end_;
  const char* const stop = std::find_if_not(begin, std::min(end, begin + kMaxNumber), IsInNumber);
  const std::string_view text(begin, static_cast<size_t>(stop - begin));
  if (text.size() == kMaxNumber) return Fail("a number is longer than any that is read");
  if (!IsJsonNumber(text)) return Fail("a number was expected");
  if (std::from_chars(begin, stop, number.real).ec != std::errc()) return Fail("a number is beyond a double");
  const auto whole = std::from_chars(begin, stop, number.whole);
  number.is_whole = whole.ec == std::errc() && whole.ptr == stop;
  at_ += text.size();
  return true;
}

// A whole number divided by a power of ten, both of which a double holds, is rounded once, and so correctly. All others
// are read as a text.
bool JsonScanner::ReadNumber(JsonNumber& number) {
  fresh_ = false;
  if (LookPastBlanks() == -1) return Fail("a number was expected");
  Fill(kMaxNumber);
  if (!ok()) return false;
  const char* const begin = buffer_.get() + at_;
  const char* const end = buffer_.get() + end_;
  const char* at = begin;
  const bool negative = at < end && *at == '-';
  if (negative) ++at;
  const char* const digits = at;
  uint64_t whole = 0;
  while (at < end && IsDigit(*at) && at - digits < kSafeDigits) whole = whole * 10 + static_cast<uint64_t>(*at++ - '0');
  const ptrdiff_t before_point = at - digits;
  ptrdiff_t after_point = 0;
  const bool has_point = at < end && *at == '.';
  if (has_point) {
    const char* const fraction = ++at;
    while (at < end && IsDigit(*at) && at - digits <= kSafeDigits) {
      whole = whole * 10 + static_cast<uint64_t>(*at++ - '0');
    }
    after_point = at - fraction;
  }
  const bool leading_zero = before_point > 1 && *digits == '0';
  const bool plain = before_point > 0 && !leading_zero && (!has_point || after_point > 0) && whole < kExactWholes &&
                     (at == end || !IsInNumber(*at));
  if (!plain) return ReadLongNumber(number);
  const double real = static_cast<double>(whole) / kPowersOfTen[after_point];
  number.real = negative ? -real : real;
  number.is_whole = !has_point;
  number.whole = negative ? -static_cast<int64_t>(whole) : static_cast<int64_t>(whole);
  at_ += static_cast<size_t>(at - begin);
  return true;
}

bool JsonScanner::SkipWord(std::string_view word) {
  if (!Fill(word.size()) || std::string_view(buffer_.get() + at_, word.size()) != word) {
    return Fail("a value is missing, or is not JSON");
  }
  at_ += word.size();
  return true;
}

bool JsonScanner::ReadBool(bool& value) {
  fresh_ = false;
  value = LookPastBlanks() == 't';
  return SkipWord(value ? "true" : "false");
}

bool JsonScanner::Skip() {
  open_.clear();
  while (true) {
    JsonNumber number;
    bool value = false;
    switch (Peek()) {
      case JsonKind::kObject:
        EnterObject();
        open_.push_back('{');
        break;
      case JsonKind::kArray:
        EnterArray();
        open_.push_back('[');
        break;
      case JsonKind::kText:
        ReadText(skipped_);
        break;
      case JsonKind::kNumber:
        ReadNumber(number);
        break;
      case JsonKind::kBool:
        ReadBool(value);
        break;
      case JsonKind::kNull:
        fresh_ = false;
        SkipWord("null");
        break;
      case JsonKind::kNothing:
        break;
    }
    while (ok() && !open_.empty() && !(open_.back() == '{' ? NextKey(skipped_) : NextElement())) open_.pop_back();
    if (!ok()) return false;
    if (open_.empty()) return true;
  }
}

bool JsonScanner::AtEnd() { return LookPastBlanks() == -1 ? ok() : Fail("there is more after the end of the JSON"); }

}  // namespace headrace
