#include "ops/source/lines/csv_field.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace headrace {
namespace {

// Whether it may stand between fields or around them: nothing that is part of a number or of a line's end.
bool Separates(const std::string& text) {
  if (text.size() != 1) return false;
  const auto byte = static_cast<uint8_t>(text[0]);
  const bool letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
  const bool digit = byte >= '0' && byte <= '9';
  return byte < 0x80 && !letter && !digit && std::string_view("\n\r+-.").find(text[0]) == std::string_view::npos &&
         byte != 0;
}

// The first of two bytes in [at, end); `end`: there is none.
const char* FindEither(const char* at, const char* end, char a, char b) {
  const __m128i as = _mm_set1_epi8(a);
  const __m128i bs = _mm_set1_epi8(b);
  for (; at < end; at += CsvField::kSlack) {
    const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto found = static_cast<uint32_t>(
        _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(sixteen, as), _mm_cmpeq_epi8(sixteen, bs))));
    if (found != 0) return std::min(end, at + __builtin_ctz(found));
  }
  return end;
}

// The text between quotes, of which the first is at `at`.
CsvFault CutQuoted(const CsvDialect& dialect, const char*& at, const char* end, CsvField& field) {
  const char* const begin = ++at;
  field.quoted = true;
  while (true) {
    const void* const found = std::memchr(at, *dialect.quote, static_cast<size_t>(end - at));
    if (found == nullptr) return CsvFault::kOpen;
    at = static_cast<const char*>(found) + 1;
    if (at == end || *at != *dialect.quote) break;
    field.doubled = true;
    ++at;
  }
  field.text = {begin, static_cast<size_t>(at - 1 - begin)};
  return at == end || *at == dialect.delimiter ? CsvFault::kNone : CsvFault::kBehind;
}

}  // namespace

absl::StatusOr<CsvDialect> CsvDialect::Of(const std::string& delimiter, const std::optional<std::string>& quote) {
  if (!Separates(delimiter)) {
    return GraphError("delimiter is '", delimiter,
                      "'; it must be one ASCII character that is no letter, digit, '+', '-', '.' or line end");
  }
  CsvDialect dialect{delimiter[0], std::nullopt};
  if (!quote.has_value()) return dialect;
  if (!Separates(*quote) || *quote == delimiter || *quote == " " || *quote == "\t") {
    return GraphError("quote is '", *quote,
                      "'; it must be None, or one ASCII character that is no letter, digit, '+', '-', '.', space, line "
                      "end or the delimiter");
  }
  dialect.quote = (*quote)[0];
  return dialect;
}

CsvFault CutField(const CsvDialect& dialect, const char*& at, const char* end, CsvField& field) {
  field.quoted = field.doubled = false;
  if (dialect.quote.has_value() && at < end && *at == *dialect.quote) return CutQuoted(dialect, at, end, field);
  const char* const begin = at;
  at = FindEither(at, end, dialect.delimiter, dialect.quote.value_or(dialect.delimiter));
  field.text = {begin, static_cast<size_t>(at - begin)};
  return at == end || *at == dialect.delimiter ? CsvFault::kNone : CsvFault::kInside;
}

bool HasBareReturn(const CsvField& field) {
  return !field.quoted && !field.text.empty() && std::memchr(field.text.data(), '\r', field.text.size()) != nullptr;
}

uint8_t* CopySingleQuotes(const CsvField& field, char quote, uint8_t* target) {
  std::string_view rest = field.text;
  while (!rest.empty()) {
    // Up to the first quote of a pair, and with it.
    const size_t part = std::min(rest.size(), rest.find(quote) + 1);
    const size_t taken = part == 0 ? rest.size() : part;
    std::memcpy(target, rest.data(), taken);
    target += taken;
    rest.remove_prefix(std::min(rest.size(), part == 0 ? taken : taken + 1));
  }
  return target;
}

std::string FaultText(const CsvDialect& dialect, CsvFault fault, size_t number) {
  switch (fault) {
    case CsvFault::kNone:
      break;
    case CsvFault::kOpen:
      if (dialect.newlines) return Cat("the quotes of field ", number, " are not closed in the file; close them");
      return Cat("the quotes of field ", number,
                 " are not closed in the line; if the field goes on in the next line, read with "
                 "newlines_in_values=True, and if quotes are characters like others, with quote=None");
    case CsvFault::kInside:
      return Cat("field ", number,
                 " has a quote in it and none around it; put quotes around it and double those in it, or read with "
                 "quote=None");
    case CsvFault::kBehind:
      return Cat("field ", number, " goes on after its closing quote; double the quotes in it");
    case CsvFault::kReturn:
      return Cat("field ", number,
                 " has a carriage return in it, as in files whose lines end with \\r alone; write the file anew with "
                 "\\n at the ends of lines, or put quotes around the field");
  }
  return "";
}

absl::Status CheckNoBareReturn(std::string_view line, const CsvDialect& dialect) {
  if (line.find('\r') == std::string_view::npos) return absl::OkStatus();
  std::string padded(line);
  padded.append(CsvField::kSlack, '\0');
  const char* at = padded.data();
  const char* const end = at + line.size();
  for (size_t number = 1;; ++number) {
    CsvField field;
    // Another fault is told where the fields are read.
    if (CutField(dialect, at, end, field) != CsvFault::kNone) return absl::OkStatus();
    if (HasBareReturn(field)) return DataError(FaultText(dialect, CsvFault::kReturn, number));
    if (at++ == end) return absl::OkStatus();
  }
}

absl::StatusOr<std::vector<std::string>> SplitLine(std::string_view line, const CsvDialect& dialect) {
  HEADRACE_RETURN_IF_ERROR(CheckNoBareReturn(line, dialect));
  std::string padded(line);
  padded.append(CsvField::kSlack, '\0');
  const char* at = padded.data();
  const char* const end = at + line.size();
  std::vector<std::string> texts;
  while (true) {
    CsvField field;
    const CsvFault fault = CutField(dialect, at, end, field);
    if (fault != CsvFault::kNone) return DataError(FaultText(dialect, fault, texts.size() + 1));
    std::string& text = texts.emplace_back(field.text);
    if (field.doubled) {
      auto* const begin = reinterpret_cast<uint8_t*>(text.data());
      text.resize(static_cast<size_t>(CopySingleQuotes(field, *dialect.quote, begin) - begin));
    }
    if (at++ == end) return texts;
  }
}

}  // namespace headrace
