#include "io/formats/arrow/arrow_format.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

struct PlainFormat {
  std::string_view format;
  ArrowFormat meaning;
};

const std::array<PlainFormat, 24>& PlainFormats() {
  using enum ArrowLayout;
  static const auto* const formats = new std::array<PlainFormat, 24>{{
      {"b", {kBits, DType::kBool}},
      {"c", {kNumbers, DType::kInt8}},
      {"C", {kNumbers, DType::kUInt8}},
      {"s", {kNumbers, DType::kInt16}},
      {"S", {kNumbers, DType::kUInt16}},
      {"i", {kNumbers, DType::kInt32}},
      {"I", {kNumbers, DType::kUInt32}},
      {"l", {kNumbers, DType::kInt64}},
      {"L", {kNumbers, DType::kUInt64}},
      {"e", {kNumbers, DType::kFloat16}},
      {"f", {kNumbers, DType::kFloat32}},
      {"g", {kNumbers, DType::kFloat64}},
      {"z", {kSpans32, DType::kBytes}},
      {"Z", {kSpans64, DType::kBytes}},
      {"u", {kSpans32, DType::kString}},
      {"U", {kSpans64, DType::kString}},
      {"vz", {kViews, DType::kBytes}},
      {"vu", {kViews, DType::kString}},
      {"+l", {kList32, DType::kUnknown}},
      {"+L", {kList64, DType::kUnknown}},
      {"+s", {kStruct, DType::kUnknown}},
      {"tdD", {kWidened, DType::kInt64, 0, "days"}},
      {"tdm", {kNumbers, DType::kInt64, 0, "ms"}},
      {"n", {kNumbers, DType::kUnknown}},
  }};
  return *formats;
}

constexpr int64_t kMostWidth = int64_t{1} << 31;

absl::StatusOr<int64_t> WidthOf(std::string_view digits, std::string_view format) {
  int64_t width = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), width);
  if (error == std::errc() && end == digits.data() + digits.size() && width >= 0 && width < kMostWidth) return width;
  return UnsupportedError("has a type whose width is not a number from 0 to 2147483647: ", format);
}

std::string_view UnitOf(char letter) {
  switch (letter) {
    case 's':
      return "s";
    case 'm':
      return "ms";
    case 'u':
      return "us";
    case 'n':
      return "ns";
    default:
      return {};
  }
}

// Times of day, time stamps and durations: "ttm", "tsu:UTC", "tDn".
std::optional<ArrowFormat> TimeOf(std::string_view format) {
  if (format.size() < 3 || format[0] != 't') return std::nullopt;
  const std::string_view unit = UnitOf(format[2]);
  if (unit.empty()) return std::nullopt;
  const bool stamp = format[1] == 's';
  if (stamp ? format.size() < 4 || format[3] != ':' : format.size() != 3) return std::nullopt;
  if (!stamp && format[1] != 't' && format[1] != 'D') return std::nullopt;
  const bool narrow = format[1] == 't' && (format[2] == 's' || format[2] == 'm');
  ArrowFormat time{narrow ? ArrowLayout::kWidened : ArrowLayout::kNumbers, DType::kInt64, 0, std::string(unit)};
  if (stamp && format.size() > 4) Append(time.unit, " ", format.substr(4));
  return time;
}

bool Begins(std::string_view format, std::string_view with) { return format.substr(0, with.size()) == with; }

absl::Status RefusalOf(std::string_view format) {
  if (Begins(format, "d:")) {
    return UnsupportedError(
        "holds decimals, and no dtype does; cast the column to float64, or to int64 of the smallest unit");
  }
  if (format == "+m") {
    return UnsupportedError(
        "holds maps, whose keys differ from row to row; give a column for each key, or lists of keys and of values");
  }
  if (Begins(format, "+u")) {
    return UnsupportedError("holds unions, whose values have several types; give a column for each type");
  }
  if (format == "+vl" || format == "+vL") {
    return UnsupportedError("holds list views; cast the column to a list or to a large list");
  }
  if (format == "+r") return UnsupportedError("is run-end encoded; cast the column to the type of its values");
  if (Begins(format, "ti")) {
    return UnsupportedError("holds calendar intervals, whose length is not fixed; cast the column to a duration");
  }
  return UnsupportedError("has a type whose format is not known here; cast the column to numbers, texts or bytes: ",
                          format);
}

}  // namespace

absl::StatusOr<ArrowFormat> ParseArrowFormat(std::string_view format) {
  if (format == "n") {
    return UnsupportedError(
        "has the type null, and no value in any row; leave it out of columns, or cast it to the type that it should "
        "have");
  }
  for (const PlainFormat& each : PlainFormats()) {
    if (each.format == format) return each.meaning;
  }
  const bool fixed_list = Begins(format, "+w:");
  if (fixed_list || Begins(format, "w:")) {
    HEADRACE_ASSIGN_OR_RETURN(const int64_t width, WidthOf(format.substr(fixed_list ? 3 : 2), format));
    if (fixed_list) return ArrowFormat{ArrowLayout::kFixedList, DType::kUnknown, width};
    return ArrowFormat{ArrowLayout::kFixedBytes, DType::kBytes, width};
  }
  if (std::optional<ArrowFormat> time = TimeOf(format)) return *std::move(time);
  return RefusalOf(format);
}

}  // namespace headrace
