#include "ops/source/lines/json_columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/source/declared_fields.h"
#include "ops/source/shown_text.h"

namespace headrace {
namespace {

using Json = nlohmann::json;

// The digits of a whole number that neither 64 bits nor a double holds, which JSON has no type for.
std::string DigitsOf(const Json& value) {
  const Json::binary_t& bytes = value.get_binary();
  return {bytes.begin(), bytes.end()};
}

// Whether these are the digits of the double.
bool IsWritten(double number, std::string_view digits) {
  char text[400];
  const auto end = std::to_chars(std::begin(text), std::end(text), number, std::chars_format::fixed, 0);
  return end.ec == std::errc() && std::string_view(text, static_cast<size_t>(end.ptr - text)) == digits;
}

// Makes values as Json::parse does, but keeps the digits of whole numbers that it would round.
class ExactValues : public nlohmann::detail::json_sax_dom_parser<Json> {
 public:
  using json_sax_dom_parser::json_sax_dom_parser;

  bool number_float(double number, const std::string& written) {
    const bool whole = written.find_first_of(".eE") == std::string::npos;
    if (!whole || IsWritten(number, written)) return json_sax_dom_parser::number_float(number, written);
    Json::binary_t digits(std::vector<uint8_t>(written.begin(), written.end()));
    return json_sax_dom_parser::binary(digits);
  }
};

// Throws the exceptions of Json::parse.
Json ParseExactly(std::string_view text) {
  Json value;
  ExactValues values(value, true);
  Json::sax_parse(text.begin(), text.end(), &values);
  return value;
}

// Lists are not written out, as they may be nested deeper than the stack.
std::string Shown(const Json& value) {
  if (value.is_binary()) return Cat(ShownText(DigitsOf(value)), ", which neither 64 bits nor a double hold");
  if (value.is_structured()) return value.is_array() ? "a list of other lengths or elements" : "an object";
  return ShownText(value.dump());
}

// Whole numbers must be held exactly, as they are numbers or classes that are compared; others are rounded.
template <typename T>
bool ConvertToFloat(const Json& value, T& target) {
  if (!value.is_number()) return false;
  target = value.get<T>();
  if (!std::isfinite(target)) return false;
  if (value.is_number_float()) return true;
  // A double holds the next power of two that 64 bits cannot, so compares with the range first.
  constexpr T kEnd = 18446744073709551616.0;
  if (value.is_number_unsigned()) return target < kEnd && static_cast<uint64_t>(target) == value.get<uint64_t>();
  return static_cast<int64_t>(target) == value.get<int64_t>();
}

// Whether the JSON value is one of T, which is then in `target`.
template <typename T>
bool Convert(const Json& value, T& target) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) return false;
    target = value.get<bool>();
  } else if constexpr (std::is_floating_point_v<T>) {
    return ConvertToFloat(value, target);
  } else if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<T>::max())) return false;
    target = static_cast<T>(number);
  } else {
    if (!value.is_number_integer()) return false;
    const auto number = value.get<int64_t>();
    if (std::is_unsigned_v<T> || number < static_cast<int64_t>(std::numeric_limits<T>::min())) return false;
    target = static_cast<T>(number);
  }
  return true;
}

// The shape of nested lists, by the first of each, of the rank declared; below an empty list that declared.
bool ShapeOf(const Json& value, const Shape& declared, Shape& shape) {
  const Json* at = &value;
  for (size_t axis = 0; axis < declared.size(); ++axis) {
    if (!at->is_array()) return false;
    shape.push_back(static_cast<int64_t>(at->size()));
    if (!at->empty()) {
      at = &(*at)[0];
      continue;
    }
    for (++axis; axis < declared.size(); ++axis) shape.push_back(std::max<int64_t>(declared[axis], 0));
    return true;
  }
  return true;
}

// Calls take(scalar) for each, in row-major order; false: the lists are no box of that shape, or take is false.
template <typename Take>
bool ForEachScalar(const Json& value, absl::Span<const int64_t> shape, Take& take) {
  if (shape.empty()) return take(value);
  if (!value.is_array() || static_cast<int64_t>(value.size()) != shape[0]) return false;
  for (const Json& each : value) {
    if (!ForEachScalar(each, shape.subspan(1), take)) return false;
  }
  return true;
}

absl::StatusOr<Tensor> TextsOf(const Json& value, const Shape& shape, bool& fits) {
  std::vector<std::string_view> texts;
  auto take = [&](const Json& scalar) {
    if (!scalar.is_string()) return false;
    texts.push_back(scalar.get_ref<const std::string&>());
    return true;
  };
  fits = ForEachScalar(value, shape, take);
  if (!fits) return Tensor();
  return shape.empty() ? Tensor::CopyBytes(DType::kString, texts[0])
                       : Tensor::CopyBytesArray(DType::kString, shape, texts);
}

absl::StatusOr<Tensor> NumbersOf(const Json& value, DType dtype, const Shape& shape, bool& fits) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape));
  fits = WithFieldType(dtype, [&](auto zero) {
    auto* next = tensor.mutable_data<decltype(zero)>();
    auto take = [&](const Json& scalar) { return Convert(scalar, *next++); };
    return ForEachScalar(value, shape, take);
  });
  return tensor;
}

size_t PlaceOf(const Json::parse_error& error) { return error.byte == 0 ? 0 : error.byte - 1; }

// Whether the lists are a box of the shape: the first elements of a few megabytes may claim one of terabytes.
bool IsBox(const Json& value, const Shape& shape) {
  auto any = [](const Json&) { return true; };
  return ForEachScalar(value, shape, any);
}

// What to write for a value of another type.
std::string AdviceFor(const Json& value, const ir::Column& column, const JsonWords& words) {
  if (value.is_binary()) return "; write it in quotes, as a text";
  std::string type = "str";
  if (value.is_array()) type = Cat("(\"", DTypeName(column.type.dtype), "\", (None,))");
  if (value.is_boolean()) type = "bool";
  if (value.is_number()) type = value.is_number_float() ? "\"float64\"" : "\"int64\"";
  return Cat(", ", words.stated, "; if the value is right, state ", words.statement, "\"", column.name, "\": ", type,
             words.rest);
}

absl::StatusOr<Tensor> ValueOf(const Json& value, const ir::Column& column, const JsonWords& words) {
  Shape shape;
  const bool shaped = ShapeOf(value, *column.type.shape, shape) && IsBox(value, shape);
  if (shaped && ir::FitsType(column.type, column.type.dtype, shape)) {
    bool fits = false;
    absl::StatusOr<Tensor> tensor = column.type.dtype == DType::kString
                                        ? TextsOf(value, shape, fits)
                                        : NumbersOf(value, column.type.dtype, shape, fits);
    if (!tensor.ok() || fits) return tensor;
  }
  return DataError("\"", column.name, "\" is ", Shown(value), "; the column's type is ", ir::TypeName(column.type),
                   AdviceFor(value, column, words));
}

// A double that JSON has no name for; nullopt: the text is another.
std::optional<double> NotFinite(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

// A tensor of its own for each row that lacks the value.
absl::StatusOr<Tensor> MissingValue(const std::string& text, const ir::Column& column, const JsonWords& words) {
  if (const std::optional<double> number = NotFinite(text); number.has_value() && column.type.shape->empty()) {
    if (column.type.dtype == DType::kFloat32) return Tensor::Scalar<float>(static_cast<float>(*number));
    if (column.type.dtype == DType::kFloat64) return Tensor::Scalar<double>(*number);
  }
  try {
    return ValueOf(ParseExactly(text), column, words);
  } catch (const Json::exception&) {
    return DataError("\"", column.name, "\" is ", ShownText(text), ", not JSON");
  }
}

std::string HowToSayMissing(const ir::Column& column, const JsonWords& words) {
  return Cat("; say what that stands for, such as missing={\"", words.prefix, column.name,
             column.type.dtype == DType::kString ? "\": \"\"}" : "\": 0}");
}

// `value`: null of JSON, or a null pointer for an object without the key.
absl::StatusOr<Tensor> ValueOrMissing(const Json* value, const ir::Column& column,
                                      const std::optional<std::string>& missing, std::string_view object,
                                      const JsonWords& words) {
  if (value != nullptr && !value->is_null()) return ValueOf(*value, column, words);
  if (missing.has_value()) return MissingValue(*missing, column, words);
  if (value == nullptr) {
    return DataError("the ", words.record, " has no \"", column.name, "\"", HowToSayMissing(column, words), ": ",
                     ShownText(object));
  }
  return DataError("\"", column.name, "\" is null; the column's type is ", ir::TypeName(column.type),
                   HowToSayMissing(column, words));
}

// Dots of a name that are taken for borders of keys: a name may come from a graph of unknown origin.
constexpr int kMostDots = 64;

// The object of the first key that is a beginning of `name` up to a dot, and the rest of the name; null: there is none.
const Json* InnerObject(const Json& object, std::string_view& name, int& dots) {
  for (size_t dot = name.find('.'); dot != std::string_view::npos && dots > 0; dot = name.find('.', dot + 1)) {
    --dots;
    const auto inner = object.find(std::string(name.substr(0, dot)));
    if (inner == object.end() || !inner->is_object()) continue;
    name.remove_prefix(dot + 1);
    return &*inner;
  }
  return nullptr;
}

// The value of a column; null: the object has none.
const Json* FindValue(const Json& row, std::string_view name) {
  int dots = kMostDots;
  const Json* object = &row;
  while (object != nullptr) {
    const auto found = object->find(std::string(name));
    if (found != object->end()) return &*found;
    object = InnerObject(*object, name, dots);
  }
  return nullptr;
}

// Records are lines, or elements of arrays.
JsonWords WordsOfRows() {
  JsonWords words;
  words.record = "row";
  words.stated = "stated by columns={…} or inferred from the first rows";
  return words;
}

class JsonColumns : public RecordColumns {
 public:
  JsonColumns(ir::Columns columns, JsonMissing missing, ClassTables classes)
      : columns_(std::move(columns)),
        missing_(std::move(missing)),
        classes_(std::move(classes)),
        given_(WithClassNumbers(columns_, classes_)),
        made_(columns_.size()) {}

  size_t Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) override {
    std::vector<Tensor> values(columns_.size());
    for (size_t i = 0; i < count; ++i) {
      wrong = ParseRow(block.content(first + i * step), columns_, missing_, absl::MakeSpan(values), words_);
      if (wrong.ok()) wrong = NumberClasses(absl::MakeSpan(values));
      if (!wrong.ok()) return i;
      for (size_t c = 0; c < values.size(); ++c) made_[c].push_back(std::move(values[c]));
    }
    return count;
  }

  absl::Status Take(Block& block) override {
    for (size_t c = 0; c < made_.size(); ++c) {
      HEADRACE_ASSIGN_OR_RETURN(BlockColumn column, Joined(std::exchange(made_[c], {}), given_[c].type));
      block.columns.push_back(std::move(column));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status NumberClasses(absl::Span<Tensor> values) const {
    for (size_t c = 0; c < values.size(); ++c) {
      if (classes_[c] == nullptr) continue;
      absl::StatusOr<Tensor> numbers = classes_[c]->NumbersOf(values[c]);
      if (!numbers.ok()) {
        return KindOf(numbers.status()) == ErrorKind::kData
                   ? DataError("\"", columns_[c].name, "\" ", ToStd(numbers.status().message()))
                   : numbers.status();
      }
      values[c] = *std::move(numbers);
    }
    return absl::OkStatus();
  }

  // One after the other where all rows have one shape.
  static absl::StatusOr<BlockColumn> Joined(std::vector<Tensor> rows, const ir::ColumnType& type) {
    const bool texts = type.dtype == DType::kString;
    if (rows.size() > 1 && (texts ? type.shape->empty() : type.fully_known())) {
      HEADRACE_ASSIGN_OR_RETURN(Tensor stack, Stack(rows));
      return BlockColumn::Stacked(std::move(stack));
    }
    BlockColumn column;
    for (Tensor& row : rows) column.Append(std::move(row));
    return column;
  }

  const ir::Columns columns_;
  const JsonMissing missing_;
  const ClassTables classes_;
  const ir::Columns given_;
  const JsonWords words_ = WordsOfRows();
  std::vector<std::vector<Tensor>> made_;
};

}  // namespace

absl::Status CheckMissing(const ir::Columns& columns, const JsonMissing& missing) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!missing[i].has_value()) continue;
    const absl::StatusOr<Tensor> value = MissingValue(*missing[i], columns[i], {});
    if (!value.ok()) return GraphError("missing: ", ToStd(value.status().message()));
  }
  return absl::OkStatus();
}

absl::Status ParseRow(std::string_view object, const ir::Columns& columns, const JsonMissing& missing,
                      absl::Span<Tensor> values, const JsonWords& words) {
  Json row;
  try {
    row = ParseExactly(object);
  } catch (const Json::parse_error& error) {
    return DataError("the ", words.record, " is not JSON: what is wrong begins at its byte ", PlaceOf(error), "; each ",
                     words.record, " is a whole object: {\"name\": value, …}");
  } catch (const Json::out_of_range&) {
    return DataError("the ", words.record, " has a number beyond a double");
  }
  if (!row.is_object()) {
    return DataError("the ", words.record, " is ", ShownText(object), "; it must be an object: {\"name\": value, …}");
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const Json* const value = FindValue(row, columns[i].name);
    HEADRACE_ASSIGN_OR_RETURN(values[i], ValueOrMissing(value, columns[i], missing[i], object, words));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ParseJsonValue(std::string_view text, const ir::Column& column,
                                      const std::optional<std::string>& missing, const JsonWords& words) {
  try {
    const Json value = ParseExactly(text);
    return ValueOrMissing(&value, column, missing, text, words);
  } catch (const Json::parse_error& error) {
    return DataError("the ", words.record, " is not JSON: what is wrong begins at its byte ", PlaceOf(error));
  } catch (const Json::out_of_range&) {
    return DataError("the ", words.record, " has a number beyond a double");
  }
}

std::unique_ptr<RecordColumns> MakeJsonColumns(ir::Columns columns, JsonMissing missing, ClassTables classes) {
  return std::make_unique<JsonColumns>(std::move(columns), std::move(missing), std::move(classes));
}

}  // namespace headrace
