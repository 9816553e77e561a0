// `CutField` cuts one field of a line of CSV, as RFC 4180 has it: bytes up to the next delimiter, or bytes between
// quotes, in which a quote is doubled. A quote elsewhere is a fault, and so are quotes that are not closed in the line,
// which ends where LineFormat says.
// Threads: pure functions.
#ifndef HEADRACE_OPS_SOURCE_LINES_CSV_FIELD_H_
#define HEADRACE_OPS_SOURCE_LINES_CSV_FIELD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace headrace {

struct CsvDialect {
  // kGraph: one is not a single ASCII character, is part of numbers or line ends, or they are equal.
  static absl::StatusOr<CsvDialect> Of(const std::string& delimiter, const std::optional<std::string>& quote);

  char delimiter = ',';
  std::optional<char> quote = '"';  // nullopt: a quote is a character like others
  bool newlines = false;            // text in quotes may have line ends
};

struct CsvField {
  // Bytes after a line that may be read while its fields are cut.
  static constexpr size_t kSlack = 16;

  std::string_view text;  // without the quotes around it; a quote in it is doubled
  bool quoted = false;
  bool doubled = false;  // it has such quotes
};

enum class CsvFault : uint8_t {
  kNone,
  kOpen,    // quotes that are not closed
  kInside,  // a quote in a field without quotes around it
  kBehind,  // bytes between a closing quote and the delimiter
  kReturn,  // a bare return; only HasBareReturn tells
};

// Whether the field, without quotes around it, has a carriage return: lines end with that alone in some old files, of
// which the whole is then one line.
bool HasBareReturn(const CsvField& field);

// Cuts the field that begins at `at`, and moves `at` to its end, which is a delimiter or `end`. kSlack bytes from `end`
// on may be read.
CsvFault CutField(const CsvDialect& dialect, const char*& at, const char* end, CsvField& field);

// Writes the field's text with single quotes, and returns the byte after it; `target` has room for all of field.text.
uint8_t* CopySingleQuotes(const CsvField& field, char quote, uint8_t* target);

// What is wrong with field `number`, counted from 1, and what to do about it.
std::string FaultText(const CsvDialect& dialect, CsvFault fault, size_t number);

// kData: one of the line's fields has a bare return.
absl::Status CheckNoBareReturn(std::string_view line, const CsvDialect& dialect);

// The texts of a line's fields. kData: one has a fault, or a bare return.
absl::StatusOr<std::vector<std::string>> SplitLine(std::string_view line, const CsvDialect& dialect);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_LINES_CSV_FIELD_H_
