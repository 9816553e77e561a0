// Fuzzes lines of CSV: a line is a row if a plain splitter of fields and the C library's numbers say so, and has their
// values; any other is an error of the data.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "core/utf8.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/text/line_format.h"
#include "ops/source/declared_fields.h"
#include "ops/source/lines/csv_columns.h"
#include "ops/source/lines/csv_field.h"
#include "ops/source/lines/csv_layout.h"

namespace headrace {
namespace {

constexpr size_t kMostBytes = 2000;

using Texts = std::vector<std::string>;

struct Table {
  ir::Schema schema;
  CsvLines lines;
};

Table TableOf(const Texts& fields, const Texts& names, CsvDialect dialect, std::optional<std::string> missing) {
  Table table;
  for (const std::string& field : fields) table.schema.columns.push_back(*ParseField(field));
  table.lines = {dialect, *RunsByNames(names, table.schema, table.schema.columns), {}};
  table.lines.missing.resize(fields.size());
  table.lines.missing[0] = std::move(missing);
  return table;
}

constexpr std::string_view kClasses[] = {"a", "", "1", "b\"c", "\xc3\xa4"};

// The texts of the first column name classes.
Table WithClasses(Table table) {
  table.lines.classes.resize(table.schema.columns.size());
  table.lines.classes[0] = *ClassTable::Parse(R"(["a", "", "1", "b\"c", "\u00e4"])");
  table.schema.columns = WithClassNumbers(table.schema.columns, table.lines.classes);
  return table;
}

const std::vector<Table>& Tables() {
  static const auto* const tables = new std::vector<Table>{
      TableOf({"a int64", "t string"}, {"a", "t"}, {}, std::nullopt),
      TableOf({"x float32 (2,)", "t string (2,)"}, {"x", "other", "t"}, {}, "-0.5"),
      TableOf({"x float64"}, {"x"}, {';', std::nullopt}, std::nullopt),
      TableOf({"t string", "u uint8", "b bool"}, {"b", "u", "t"}, {'\t', '\''}, "none"),
      WithClasses(TableOf({"c string (2,)", "t string"}, {"t", "c"}, {}, "1")),
  };
  return *tables;
}

// ---- the reference ----

// `returns`: set if a field without quotes has a carriage return.
std::optional<Texts> SplitPlainly(std::string_view line, const CsvDialect& dialect, bool& returns) {
  Texts fields(1);
  returns = false;
  enum { kBegin, kPlain, kQuoted, kClosed } state = kBegin;
  for (const char byte : line) {
    const bool quote = byte == dialect.quote;
    if (byte == dialect.delimiter && state != kQuoted) {
      fields.emplace_back();
      state = kBegin;
    } else if (quote) {
      if (state == kPlain) return std::nullopt;
      if (state == kClosed) fields.back() += byte;
      state = state == kQuoted ? kClosed : kQuoted;
    } else {
      if (state == kClosed) return std::nullopt;
      if (state == kBegin) state = kPlain;
      returns |= state == kPlain && byte == '\r';
      fields.back() += byte;
    }
  }
  if (state == kQuoted) return std::nullopt;
  return fields;
}

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

size_t CountDigits(std::string_view& text) {
  size_t count = 0;
  for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; ++count) text.remove_prefix(1);
  return count;
}

bool TakeSign(std::string_view& text) {
  const bool sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  if (sign) text.remove_prefix(1);
  return sign;
}

bool IsFloat(std::string_view text) {
  TakeSign(text);
  std::string low(text);
  for (char& each : low) each = static_cast<char>(each >= 'A' && each <= 'Z' ? each + 32 : each);
  if (low == "nan" || low == "inf" || low == "infinity") return true;
  size_t digits = CountDigits(text);
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    digits += CountDigits(text);
  }
  if (digits == 0) return false;
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  TakeSign(text);
  return CountDigits(text) > 0 && text.empty();
}

template <typename T>
bool ReadFloat(const std::string& text, T& value) {
  if (!IsFloat(text)) return false;
  value = std::is_same_v<T, float> ? static_cast<T>(std::strtof(text.c_str(), nullptr))
                                   : static_cast<T>(std::strtod(text.c_str(), nullptr));
  const bool digits = text.find_first_of("0123456789") != std::string::npos;
  return !std::isinf(value) || !digits;
}

bool ReadInteger(std::string_view text, bool is_signed, __int128 least, __int128 most, __int128& value) {
  const bool negative = !text.empty() && text[0] == '-';
  TakeSign(text);
  value = 0;
  if (text.empty() || (negative && !is_signed)) return false;
  for (const char byte : text) {
    if (byte < '0' || byte > '9') return false;
    if (value < (__int128{1} << 70)) value = value * 10 + (byte - '0');
  }
  if (negative) value = -value;
  return value >= least && value <= most;
}

template <typename T>
bool Same(const Tensor& row, int64_t i, T value) {
  return std::memcmp(row.raw() + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T)) == 0;
}

// Whether the field is one of the column; `row`, if there is one, must have its value.
bool Holds(const ir::Column& column, const std::optional<std::string>& missing, const std::string& field,
           const Tensor* row, int64_t i) {
  const auto require = [&](bool same) { Require(row == nullptr || same, "a row has the values of its fields"); };
  if (column.type.dtype == DType::kString) {
    const std::string& text = field.empty() && missing.has_value() ? *missing : field;
    require(row == nullptr || row->bytes_at(i) == text);
    return IsUtf8(field);
  }
  if (column.type.dtype == ClassTable::kNumber) {
    const std::string& name = field.empty() && missing.has_value() ? *missing : field;
    const auto* const found = std::find(std::begin(kClasses), std::end(kClasses), name);
    if (found == std::end(kClasses)) return false;
    require(row == nullptr || Same(*row, i, static_cast<int32_t>(found - std::begin(kClasses))));
    return true;
  }
  std::string text = Trimmed(field);
  const bool nothing = text.empty() || text == "NA" || text == "NaN" || text == "N/A" || text == "null";
  if (nothing && missing.has_value()) text = *missing;
  if (column.type.dtype == DType::kFloat32) {
    float value = 0;
    if (!ReadFloat(text, value)) return false;
    require(row == nullptr || Same(*row, i, value));
  } else if (column.type.dtype == DType::kFloat64) {
    double value = 0;
    if (!ReadFloat(text, value)) return false;
    require(row == nullptr || Same(*row, i, value));
  } else if (column.type.dtype == DType::kBool) {
    const bool value = text == "1" || text == "true" || text == "True" || text == "TRUE";
    if (!value && text != "0" && text != "false" && text != "False" && text != "FALSE") return false;
    require(row == nullptr || Same(*row, i, value));
  } else {
    const bool wide = column.type.dtype == DType::kInt64;
    __int128 value = 0;
    const __int128 most = wide ? (__int128{1} << 63) - 1 : 255;
    if (!ReadInteger(text, wide, wide ? -most - 1 : 0, most, value)) return false;
    require(row == nullptr ||
            (wide ? Same(*row, i, static_cast<int64_t>(value)) : Same(*row, i, static_cast<uint8_t>(value))));
  }
  return true;
}

// Whether the line is a row; `row`, if there is one, must have its values.
bool IsRow(const Table& table, std::string_view line, const std::vector<Tensor>* row) {
  bool returns = false;
  const std::optional<Texts> fields = SplitPlainly(line, table.lines.dialect, returns);
  size_t total = 0;
  for (const CsvRun& run : table.lines.runs) total += run.fields;
  if (!fields.has_value() || fields->size() != total) return false;
  // Then the line may be a whole file.
  if (total == 1 && returns) return false;
  size_t at = 0;
  for (const CsvRun& run : table.lines.runs) {
    for (size_t i = 0; i < run.fields; ++i, ++at) {
      if (run.column == CsvRun::kNoColumn) continue;
      const auto column = static_cast<size_t>(run.column);
      const Tensor* const value = row == nullptr ? nullptr : &(*row)[column];
      if (!Holds(table.schema.columns[column], table.lines.missing[column], (*fields)[at], value,
                 static_cast<int64_t>(i))) {
        return false;
      }
    }
  }
  return true;
}

// ---- what is tested ----

void CompareRows(const Table& table, RecordColumns& columns, const Texts& lines) {
  if (lines.empty()) return;
  Block block;
  Require(columns.Take(block).ok(), "rows are taken");
  for (const BlockColumn& column : block.columns) {
    Require(static_cast<size_t>(column.rows()) == lines.size(), "each line that was added is a row");
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<Tensor> row;
    for (const BlockColumn& column : block.columns) row.push_back(column.row(static_cast<int>(i)));
    Require(IsRow(table, lines[i], &row), "a line that was added is a row");
  }
}

void Parse(const Table& table, const FileSystem& file, size_t step) {
  const std::unique_ptr<RecordColumns> columns = MakeCsvColumns(table.schema.columns, table.lines);
  const LineFormat format;
  const auto reader = *format.Open(file, "f", {}, 0, 4096);
  RecordBlock block;
  Texts good;
  columns->Expect(10);
  while (reader->Next(block).ok() && !block.records.empty()) {
    for (size_t at = 0; at < block.records.size();) {
      absl::Status wrong;
      const size_t added = columns->Add(block, at, step, (block.records.size() - at - 1) / step + 1, wrong);
      for (size_t i = 0; i < added; ++i) good.emplace_back(block.content(at + i * step));
      at += added * step;
      if (wrong.ok()) continue;
      Require(KindOf(wrong) == ErrorKind::kData, "what is wrong is the line's fault");
      Require(IsUtf8(ToStd(wrong.message())), "a message is text");
      Require(!IsRow(table, block.content(at), nullptr), "a line that fails is no row");
      at += step;
    }
  }
  CompareRows(table, *columns, good);
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, headrace::kMostBytes));
  // Few bytes would be many rows.
  if (headrace::CompressionOf({data, text.size()}) != headrace::Compression::kNone) return 0;
  const headrace::OneFile file{std::string(text)};
  for (const headrace::Table& table : headrace::Tables()) {
    for (const size_t step : {1, 2}) headrace::Parse(table, file, step);
    const auto names = headrace::SplitLine(text, table.lines.dialect);
    bool returns = false;
    const auto expected = headrace::SplitPlainly(text, table.lines.dialect, returns);
    const bool good = expected.has_value() && !returns;
    headrace::Require(names.ok() == good && (!names.ok() || *names == *expected), "a header is split");
  }
  return 0;
}
