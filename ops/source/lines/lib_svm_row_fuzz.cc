// Fuzzes lines of LibSVM text: a line is a row if a plain splitter of fields and the C library's numbers say so, and
// has their values; any other is an error of the data.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "core/utf8.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/text/line_format.h"
#include "ops/source/lines/lib_svm_columns.h"

namespace headrace {
namespace {

constexpr size_t kMostBytes = 1000;

struct Row {
  float label = 0;
  std::vector<int64_t> indices;
  std::vector<float> values;
};

// ---- the reference ----

std::vector<std::string> FieldsOf(std::string_view line) {
  std::vector<std::string> fields(1);
  for (const char byte : line.substr(0, line.find('#'))) {
    if (byte != ' ' && byte != '\t') {
      fields.back() += byte;
    } else if (!fields.back().empty()) {
      fields.emplace_back();
    }
  }
  if (fields.back().empty()) fields.pop_back();
  return fields;
}

// The next functions take what they match off the front; std::regex would recurse for each letter.
size_t TakeDigits(std::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits;
}

void TakeSign(std::string_view& text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
}

bool IsWhole(std::string_view text) {
  TakeSign(text);
  return TakeDigits(text) > 0 && text.empty();
}

bool IsReal(std::string_view text) {
  TakeSign(text);
  std::string lower(text);
  for (char& letter : lower) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  if (lower == "nan" || lower == "inf" || lower == "infinity") return true;
  size_t digits = TakeDigits(text);
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    digits += TakeDigits(text);
  }
  if (digits == 0) return false;
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return text.empty();
  return IsWhole(text.substr(1));
}

std::optional<float> FloatOf(const std::string& text) {
  if (!IsReal(text)) return std::nullopt;
  const float value = std::strtof(text.c_str(), nullptr);
  const bool digits = text.find_first_of("0123456789") != std::string::npos;
  return std::isinf(value) && digits ? std::nullopt : std::optional<float>(value);
}

std::optional<int64_t> IndexOf(const std::string& text) {
  if (!IsWhole(text)) return std::nullopt;
  errno = 0;
  const int64_t value = std::strtoll(text.c_str(), nullptr, 10);
  return errno == 0 ? std::optional<int64_t>(value) : std::nullopt;
}

// The row of a line with fields; nullopt: it is none.
std::optional<Row> RowOf(const LibSvmLines& lines, std::string_view line) {
  Row row;
  const std::vector<std::string> fields = FieldsOf(line);
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string& field = fields[i];
    if (i == 1 && field.starts_with("qid:")) continue;
    const size_t colon = field.find(':');
    const std::string name = field.substr(0, colon);
    const std::optional<float> value = colon == std::string::npos ? 1 : FloatOf(field.substr(colon + 1));
    if (!value.has_value()) return std::nullopt;
    if (i == 0) {
      const std::optional<float> label = FloatOf(name);
      if (!label.has_value()) return std::nullopt;
      row.label = *label;
      continue;
    }
    const std::optional<int64_t> index = IndexOf(name);
    if (!index.has_value() || *index < (lines.zero_based ? 0 : 1)) return std::nullopt;
    const int64_t from_zero = *index - (lines.zero_based ? 0 : 1);
    if (from_zero >= lines.features || (!row.indices.empty() && from_zero <= row.indices.back())) return std::nullopt;
    row.indices.push_back(from_zero);
    row.values.push_back(*value);
  }
  return row;
}

template <typename T>
bool Same(const Tensor& tensor, const std::vector<T>& values) {
  return tensor.elements() == static_cast<int64_t>(values.size()) &&
         (values.empty() || std::memcmp(tensor.raw(), values.data(), values.size() * sizeof(T)) == 0);
}

// ---- what is tested ----

void CompareRows(RecordColumns& columns, const std::vector<Row>& rows) {
  if (rows.empty()) return;
  Block block;
  Require(columns.Take(block).ok(), "rows are taken");
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<int>(i);
    const bool same = Same<float>(block.columns[0].row(row), {rows[i].label}) &&
                      Same(block.columns[1].row(row), rows[i].indices) &&
                      Same(block.columns[2].row(row), rows[i].values);
    Require(same, "a row has the values of its fields");
  }
}

void Parse(const LibSvmLines& lines, const FileSystem& file, size_t step) {
  const std::unique_ptr<RecordColumns> columns = MakeLibSvmColumns(lines);
  const LineFormat format;
  const auto reader = *format.Open(file, "f", {}, 0, 4096);
  RecordBlock block;
  std::vector<Row> good;
  columns->Expect(10);
  while (reader->Next(block).ok() && !block.records.empty()) {
    columns->Choose(block);
    for (size_t i = 0; i < block.records.size(); ++i) {
      Require(!FieldsOf(block.content(i)).empty(), "lines without a field are left out");
    }
    for (size_t at = 0; at < block.records.size();) {
      absl::Status wrong;
      const size_t added = columns->Add(block, at, step, (block.records.size() - at - 1) / step + 1, wrong);
      for (size_t i = 0; i < added; ++i) {
        const std::optional<Row> row = RowOf(lines, block.content(at + i * step));
        Require(row.has_value(), "a line that was added is a row");
        good.push_back(*row);
      }
      at += added * step;
      if (wrong.ok()) continue;
      Require(KindOf(wrong) == ErrorKind::kData, "what is wrong is the line's fault");
      Require(IsUtf8(ToStd(wrong.message())), "a message is text");
      Require(!RowOf(lines, block.content(at)).has_value(), "a line that fails is no row");
      at += step;
    }
  }
  CompareRows(*columns, good);
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size = std::min(size, headrace::kMostBytes);
  // Few bytes would be many rows.
  if (headrace::CompressionOf({data, size}) != headrace::Compression::kNone) return 0;
  const headrace::OneFile file{std::string(reinterpret_cast<const char*>(data), size)};
  for (const headrace::LibSvmLines& lines : {headrace::LibSvmLines{}, headrace::LibSvmLines{5, false}}) {
    for (const size_t step : {1, 2}) headrace::Parse(lines, file, step);
  }
  return 0;
}
