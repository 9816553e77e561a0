#include "ir/value_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/printable.h"
#include "core/utf8.h"
#include "ir/graph.pb.h"
#include "ir/schema_proto.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

// Of the values of a list.
constexpr int kMostShown = 64;
constexpr int kShownOfMore = 8;

template <typename Values, typename Text>
std::string TupleText(const Values& values, Text text) {
  std::string result = "(";
  const int shown = values.size() <= kMostShown ? values.size() : kShownOfMore;
  for (int i = 0; i < shown; ++i) Append(result, i > 0 ? ", " : "", text(values.Get(i)));
  if (shown < values.size()) return Cat(result, ", … ", values.size(), " values)");
  return result + (values.size() == 1 ? ",)" : ")");
}

std::string PairsText(const proto::Pairs& pairs) {
  std::string result = "{";
  const int size = std::min(pairs.keys_size(), pairs.values_size());
  for (int i = 0; i < size; ++i) {
    Append(result, i > 0 ? ", " : "", StringText(pairs.keys(i)), ": ", StringText(pairs.values(i)));
  }
  return result + "}";
}

std::string ColumnsText(const proto::Columns& columns) {
  std::string result = "{";
  for (int i = 0; i < columns.columns_size(); ++i) {
    const proto::Column& column = columns.columns(i);
    absl::StatusOr<ColumnType> type = TypeFromProto(column.type());
    Append(result, i > 0 ? ", " : "", StringText(column.name()), ": ", type.ok() ? TypeName(*type) : "?");
  }
  return result + "}";
}

// What Python writes between the two arguments of a function; "": it is written as a call.
std::string_view PythonOperator(std::string_view function) {
  constexpr std::string_view kBetween[] = {"<", "<=", ">", ">=", "==", "!=", "+", "-", "*", "/", "//", "%", "in"};
  if (function == "and") return "&";
  if (function == "or") return "|";
  return std::find(std::begin(kBetween), std::end(kBetween), function) == std::end(kBetween) ? "" : function;
}

std::string Enclosed(const proto::Expression& expression) {
  const bool binary = expression.has_call() && expression.call().arguments_size() > 1;
  return binary ? Cat("(", ExpressionText(expression), ")") : ExpressionText(expression);
}

std::string CallText(const proto::Call& call) {
  const std::string& function = call.function();
  if (call.arguments_size() == 1 && function == "not") return Cat("~", Enclosed(call.arguments(0)));
  if (call.arguments_size() == 1 && function == "neg") return Cat("-", Enclosed(call.arguments(0)));
  const std::string_view between = PythonOperator(function);
  if (call.arguments_size() == 2 && !between.empty()) {
    return Cat(Enclosed(call.arguments(0)), " ", between, " ", Enclosed(call.arguments(1)));
  }
  std::string text = Printable(function) + "(";
  for (int i = 0; i < call.arguments_size(); ++i) Append(text, i > 0 ? ", " : "", ExpressionText(call.arguments(i)));
  return text + ")";
}

// Reads one literal; the deepest is a list of literals.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : rest_(text) {}

  absl::StatusOr<proto::Value> Read() {
    HEADRACE_ASSIGN_OR_RETURN(proto::Value value, ReadValue());
    SkipSpace();
    if (!rest_.empty()) return Wrong("something follows the value");
    return value;
  }

 private:
  absl::Status Wrong(std::string_view why) const { return GraphError("cannot read a value at \"", rest_, "\": ", why); }

  void SkipSpace() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }

  bool Take(std::string_view token) {
    SkipSpace();
    if (rest_.substr(0, token.size()) != token) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  absl::StatusOr<proto::Value> ReadValue() {
    if (Take("(")) return ReadList(")");
    if (Take("[")) return ReadList("]");
    if (Take("{")) return ReadPairs();
    return ReadScalar();
  }

  absl::StatusOr<proto::Value> ReadScalar() {
    if (Take("None")) return NoneValue();
    if (Take("True")) return BoolValue(true);
    if (Take("False")) return BoolValue(false);
    if (Take("float('inf')")) return FloatValue(INFINITY);
    if (Take("float('-inf')")) return FloatValue(-INFINITY);
    if (Take("float('nan')")) return FloatValue(NAN);
    if (!rest_.empty() && (rest_[0] == '\'' || rest_[0] == '"')) {
      HEADRACE_ASSIGN_OR_RETURN(std::string text, ReadString());
      return StringValue(text);
    }
    return ReadNumber();
  }

  absl::StatusOr<proto::Value> ReadNumber() {
    std::string digits;
    size_t length = 0;
    for (; length < rest_.size(); ++length) {
      const char c = rest_[length];
      if (std::string_view("0123456789+-.eE_").find(c) == std::string_view::npos) break;
      if (c != '_') digits += c;
    }
    // Drops the plus sign, which from_chars does not accept.
    if (!digits.empty() && digits[0] == '+') digits.erase(0, 1);
    const bool whole = digits.find_first_of(".eE") == std::string::npos;
    std::optional<proto::Value> value = whole ? Whole(digits) : Real(digits);
    if (!value.has_value()) return Wrong("expected None, True, False, a number, a text or a list");
    rest_.remove_prefix(length);
    return *value;
  }

  static std::optional<proto::Value> Whole(const std::string& digits) {
    int64_t number = 0;
    const char* end = digits.data() + digits.size();
    auto [stop, error] = std::from_chars(digits.data(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return IntValue(number);
  }

  static std::optional<proto::Value> Real(const std::string& digits) {
    double number = 0;
    const char* end = digits.data() + digits.size();
    auto [stop, error] = std::from_chars(digits.data(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return FloatValue(number);
  }

  absl::StatusOr<std::string> ReadString() {
    const char quote = rest_[0];
    rest_.remove_prefix(1);
    std::string text;
    while (!rest_.empty() && rest_[0] != quote) {
      if (rest_[0] == '\\') {
        HEADRACE_RETURN_IF_ERROR(ReadEscape(text));
        continue;
      }
      text += rest_[0];
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) return Wrong("a quote is missing");
    rest_.remove_prefix(1);
    return text;
  }

  // After "\\x", "\\u" or "\\U".
  std::optional<uint32_t> ReadHex(size_t digits) {
    uint32_t code = 0;
    if (rest_.size() < 2 + digits) return std::nullopt;
    const char* const end = rest_.data() + 2 + digits;
    const auto [stop, error] = std::from_chars(rest_.data() + 2, end, code, 16);
    if (error != std::errc() || stop != end) return std::nullopt;
    rest_.remove_prefix(2 + digits);
    return code;
  }

  absl::Status ReadEscape(std::string& text) {
    constexpr std::pair<char, char> kEscapes[] = {{'n', '\n'},  {'t', '\t'},  {'r', '\r'},
                                                  {'\\', '\\'}, {'\'', '\''}, {'"', '"'}};
    constexpr std::pair<char, size_t> kDigits[] = {{'x', 2}, {'u', 4}, {'U', 8}};
    for (const auto& [letter, digits] : kDigits) {
      if (rest_.size() < 2 || rest_[1] != letter) continue;
      const std::optional<uint32_t> code = ReadHex(digits);
      const bool surrogate = code.has_value() && *code >= 0xD800 && *code < 0xE000;
      if (!code.has_value() || surrogate || *code > 0x10FFFF) return Wrong("not an escape");
      if (letter == 'x') {
        text += static_cast<char>(*code);
      } else {
        AppendUtf8(text, *code);
      }
      return absl::OkStatus();
    }
    for (auto [letter, meaning] : kEscapes) {
      if (rest_.size() < 2 || rest_[1] != letter) continue;
      text += meaning;
      rest_.remove_prefix(2);
      return absl::OkStatus();
    }
    return Wrong("not an escape");
  }

  absl::StatusOr<proto::Value> ReadList(std::string_view close) {
    std::vector<proto::Value> items;
    while (!Take(close)) {
      if (!items.empty() && !Take(",")) return Wrong("expected a comma");
      if (Take(close)) break;
      HEADRACE_ASSIGN_OR_RETURN(proto::Value item, ReadScalar());
      items.push_back(std::move(item));
    }
    return ListOf(items);
  }

  absl::StatusOr<proto::Value> ListOf(const std::vector<proto::Value>& items) const {
    std::vector<int64_t> integers;
    std::vector<double> reals;
    std::vector<std::string> texts;
    for (const proto::Value& item : items) {
      if (item.has_integer()) integers.push_back(item.integer());
      if (item.has_integer()) reals.push_back(static_cast<double>(item.integer()));
      if (item.has_real()) reals.push_back(item.real());
      if (item.has_text()) texts.push_back(item.text());
    }
    if (integers.size() == items.size()) return IntsValue(integers);
    if (reals.size() == items.size()) return FloatsValue(reals);
    if (texts.size() == items.size()) return StringsValue(texts);
    return Wrong("a list holds numbers or texts, not both");
  }

  absl::StatusOr<proto::Value> ReadPairs() {
    std::vector<std::pair<std::string, std::string>> pairs;
    while (!Take("}")) {
      if (!pairs.empty() && !Take(",")) return Wrong("expected a comma");
      if (Take("}")) break;
      HEADRACE_ASSIGN_OR_RETURN(proto::Value key, ReadScalar());
      if (!Take(":")) return Wrong("expected a colon");
      HEADRACE_ASSIGN_OR_RETURN(proto::Value value, ReadScalar());
      if (!key.has_text() || !value.has_text()) return Wrong("keys and values are texts");
      pairs.emplace_back(key.text(), value.text());
    }
    return PairsValue(pairs);
  }

  std::string_view rest_;
};

}  // namespace

std::string FloatText(double value) {
  if (std::isnan(value)) return "float('nan')";
  if (std::isinf(value)) return value > 0 ? "float('inf')" : "float('-inf')";
  char buffer[64];
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  std::string text(buffer, end.ptr);
  if (plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string StringText(std::string_view text) {
  std::string result = "'";
  while (!text.empty()) {
    const size_t plain = std::min(text.find_first_of("'\\"), text.size());
    Append(result, Printable(text.substr(0, plain)), plain < text.size() ? "\\" : "", text.substr(plain, 1));
    text.remove_prefix(std::min(plain + 1, text.size()));
  }
  return result + "'";
}

std::string ValueText(const proto::Value& value) {
  const auto whole = [](int64_t number) { return std::to_string(number); };
  switch (value.kind_case()) {
    case proto::Value::kNone:
      return "None";
    case proto::Value::kBoolean:
      return value.boolean() ? "True" : "False";
    case proto::Value::kInteger:
      return std::to_string(value.integer());
    case proto::Value::kReal:
      return FloatText(value.real());
    case proto::Value::kText:
      return StringText(value.text());
    case proto::Value::kIntegers:
      return TupleText(value.integers().values(), whole);
    case proto::Value::kReals:
      return TupleText(value.reals().values(), FloatText);
    case proto::Value::kTexts:
      return TupleText(value.texts().values(), StringText);
    case proto::Value::kExpression:
      return ExpressionText(value.expression());
    case proto::Value::kReference:
      return Cat("<function ", Printable(value.reference().name()), ">");
    case proto::Value::kPairs:
      return PairsText(value.pairs());
    case proto::Value::kColumns:
      return ColumnsText(value.columns());
    case proto::Value::KIND_NOT_SET:
      break;
  }
  return "nothing";
}

std::string ExpressionText(const proto::Expression& expression) {
  switch (expression.kind_case()) {
    case proto::Expression::kColumn:
      return Cat("col(\"", Printable(expression.column()), "\")");
    case proto::Expression::kLiteral:
      return ValueText(expression.literal());
    case proto::Expression::kCall:
      return CallText(expression.call());
    case proto::Expression::KIND_NOT_SET:
      break;
  }
  return "nothing";
}

absl::StatusOr<proto::Value> ParseValue(std::string_view text) { return LiteralReader(text).Read(); }

}  // namespace headrace::ir
