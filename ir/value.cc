#include "ir/value.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "ir/attribute_types.h"
#include "ir/graph.pb.h"
#include "ir/schema_proto.h"
#include "ir/suggestion.h"
#include "ir/value_text.h"

namespace headrace::ir {
namespace {

using ValueKind = proto::Value::KindCase;

// The proto kind of the attribute's values, or one of several.
bool HasKind(const Attribute& attribute, ValueKind kind) {
  const ValueKind wanted = FactsOf(attribute.type).kind;
  if (kind == wanted) return true;
  return attribute.keeps_whole && kind == (wanted == ValueKind::kReal ? ValueKind::kInteger : ValueKind::kIntegers);
}

bool IsEmptyList(const proto::Value& value) {
  return (value.has_integers() && value.integers().values().empty()) ||
         (value.has_reals() && value.reals().values().empty()) || (value.has_texts() && value.texts().values().empty());
}

// The number of elements that a single number fills.
int FilledLength(const Attribute& attribute) {
  if (!attribute.broadcast || attribute.lengths.empty()) return 1;
  return *std::max_element(attribute.lengths.begin(), attribute.lengths.end());
}

void FitReals(const Attribute& attribute, proto::Value& value) {
  if (value.has_integers()) {
    const std::vector<double> reals(value.integers().values().begin(), value.integers().values().end());
    value = FloatsValue(reals);
  } else if (value.has_integer() && attribute.keeps_whole) {
    value = IntsValue(std::vector<int64_t>(FilledLength(attribute), value.integer()));
  } else if (value.has_integer() || value.has_real()) {
    const double number = value.has_real() ? value.real() : static_cast<double>(value.integer());
    value = FloatsValue(std::vector<double>(FilledLength(attribute), number));
  }
}

// What a value must be, for messages.
std::string_view WordsFor(const Attribute& attribute) {
  return attribute.in_words.empty() ? FactsOf(attribute.type).in_words : std::string_view(attribute.in_words);
}

std::string LengthsText(const std::vector<int>& lengths) { return absl::StrJoin(lengths, " or "); }

// Appends the mistakes of one number; `shown` is the whole value if the number is an element of a list.
void CheckBounds(const Attribute& attribute, double number, const std::string& shown, std::vector<std::string>& wrong) {
  const bool bounded = attribute.minimum.has_value() || attribute.maximum.has_value();
  // Values that are stored in a column may be anything that it holds.
  if (!std::isfinite(number) && (bounded || !attribute.keeps_whole)) {
    wrong.push_back(Cat("is ", shown, std::isnan(number) ? "; it must be a number" : "; it must be finite"));
    return;
  }
  const auto bound = [&](double value) {
    const bool whole = std::abs(value) < 1e15 && std::floor(value) == value;
    return whole ? std::to_string(static_cast<int64_t>(value)) : FloatText(value);
  };
  const bool too_low = attribute.minimum.has_value() &&
                       (attribute.exclusive_minimum ? number <= *attribute.minimum : number < *attribute.minimum);
  const std::string_view least = attribute.exclusive_minimum ? "above " : "at least ";
  if (too_low) wrong.push_back(Cat("is ", shown, "; it must be ", least, bound(*attribute.minimum)));
  const bool too_high = attribute.maximum.has_value() && number > *attribute.maximum;
  if (too_high) wrong.push_back(Cat("is ", shown, "; it must be at most ", bound(*attribute.maximum)));
}

void CheckChoice(const Attribute& attribute, const std::string& text, std::vector<std::string>& wrong) {
  if (attribute.choices.empty()) return;
  if (std::find(attribute.choices.begin(), attribute.choices.end(), text) != attribute.choices.end()) return;
  const std::string choices =
      absl::StrJoin(attribute.choices, ", ", [](std::string* out, const std::string& s) { *out += StringText(s); });
  wrong.push_back(Cat("is ", StringText(text), DidYouMean(text, attribute.choices), " (one of ", choices, ")"));
}

// Dtypes a user may name: not "unknown".
std::vector<std::string> DTypeNames() {
  std::vector<std::string> names;
  for (int i = 1; i <= static_cast<int>(DType::kString); ++i) {
    names.emplace_back(DTypeName(static_cast<DType>(i)));
  }
  return names;
}

void CheckDType(const std::string& text, std::vector<std::string>& wrong) {
  const std::vector<std::string> names = DTypeNames();
  if (std::find(names.begin(), names.end(), text) != names.end()) return;
  wrong.push_back(Cat("is ", StringText(text), ", not a dtype", DidYouMean(text, names)));
}

// What is wrong with a list of so many elements; empty: nothing.
std::string WrongLength(const ListLength& wanted, int64_t elements) {
  if (elements < wanted.least) {
    if (elements == 0 && wanted.least == 1) return "is empty; give at least one";
    return Cat("has ", elements, elements == 1 ? " element" : " elements", "; give at least ", wanted.least);
  }
  return elements > wanted.most ? Cat("has ", elements, " elements; give at most ", wanted.most) : std::string();
}

template <typename Values>
void CheckList(const Attribute& attribute, const Values& values, const std::string& shown,
               std::vector<std::string>& wrong) {
  const auto& lengths = attribute.lengths;
  if (!lengths.empty() && std::find(lengths.begin(), lengths.end(), values.size()) == lengths.end()) {
    const std::string wanted =
        attribute.in_words.empty() ? Cat("have ", LengthsText(lengths)) : Cat("be ", attribute.in_words);
    wrong.push_back(Cat("is ", shown, ", a list of ", values.size(), "; it must ", wanted));
  }
  if (attribute.length.has_value()) {
    std::string length = WrongLength(*attribute.length, static_cast<int64_t>(values.size()));
    if (!length.empty()) wrong.push_back(std::move(length));
  }
  for (const auto& value : values) {
    const size_t before = wrong.size();
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      CheckChoice(attribute, value, wrong);
    } else {
      CheckBounds(attribute, static_cast<double>(value), shown, wrong);
    }
    // Reports it once, however many elements share the mistake.
    if (wrong.size() > before) return;
  }
}

void CheckContent(const Attribute& attribute, const proto::Value& value, std::vector<std::string>& wrong) {
  const auto shown = [&] { return ValueText(value); };
  switch (attribute.type) {
    case AttributeType::kInt:
      return CheckBounds(attribute, static_cast<double>(value.integer()), shown(), wrong);
    case AttributeType::kFloat:
      return CheckBounds(attribute, value.has_real() ? value.real() : static_cast<double>(value.integer()), shown(),
                         wrong);
    case AttributeType::kString:
      return CheckChoice(attribute, value.text(), wrong);
    case AttributeType::kDType:
      return CheckDType(value.text(), wrong);
    case AttributeType::kInts:
      return CheckList(attribute, value.integers().values(), shown(), wrong);
    case AttributeType::kFloats:
      if (value.has_integers()) return CheckList(attribute, value.integers().values(), shown(), wrong);
      return CheckList(attribute, value.reals().values(), shown(), wrong);
    case AttributeType::kStrings:
      return CheckList(attribute, value.texts().values(), shown(), wrong);
    case AttributeType::kPairs:
      if (value.pairs().keys_size() != value.pairs().values_size()) wrong.push_back("has keys without values");
      return;
    case AttributeType::kColumns: {
      absl::Status status = SchemaFromProto(value.columns()).status();
      if (!status.ok()) wrong.push_back(Cat("does not describe columns: ", status.message()));
      return;
    }
    case AttributeType::kReference:
      if (value.reference().name().empty()) wrong.push_back("refers to a function without a name");
      return;
    case AttributeType::kBool:
    case AttributeType::kExpression:  // checked against the columns it reads, during type inference
      return;
  }
}

}  // namespace

proto::Value NoneValue() {
  proto::Value value;
  value.mutable_none();
  return value;
}

proto::Value BoolValue(bool boolean) {
  proto::Value value;
  value.set_boolean(boolean);
  return value;
}

proto::Value IntValue(int64_t integer) {
  proto::Value value;
  value.set_integer(integer);
  return value;
}

proto::Value FloatValue(double real) {
  proto::Value value;
  value.set_real(real);
  return value;
}

proto::Value StringValue(std::string_view text) {
  proto::Value value;
  value.set_text(std::string(text));
  return value;
}

proto::Value IntsValue(absl::Span<const int64_t> integers) {
  proto::Value value;
  value.mutable_integers()->mutable_values()->Add(integers.begin(), integers.end());
  return value;
}

proto::Value FloatsValue(absl::Span<const double> reals) {
  proto::Value value;
  value.mutable_reals()->mutable_values()->Add(reals.begin(), reals.end());
  return value;
}

proto::Value StringsValue(absl::Span<const std::string> texts) {
  proto::Value value;
  value.mutable_texts()->mutable_values()->Add(texts.begin(), texts.end());
  return value;
}

proto::Value PairsValue(absl::Span<const std::pair<std::string, std::string>> pairs) {
  proto::Value value;
  proto::Pairs* wire = value.mutable_pairs();
  for (const auto& [key, mapped] : pairs) {
    wire->add_keys(key);
    wire->add_values(mapped);
  }
  return value;
}

proto::Value ExpressionValue(proto::Expression expression) {
  proto::Value value;
  *value.mutable_expression() = std::move(expression);
  return value;
}

proto::Value ReferenceValue(std::string_view name) {
  proto::Value value;
  value.mutable_reference()->set_name(std::string(name));
  return value;
}

proto::Value ColumnsValue(const Schema& schema) {
  proto::Value value;
  *value.mutable_columns() = SchemaToProto(schema);
  return value;
}

void FitValue(const Attribute& attribute, proto::Value& value) {
  if (HasKind(attribute, value.kind_case())) return;
  switch (attribute.type) {
    case AttributeType::kFloat:
      if (value.has_integer()) value = FloatValue(static_cast<double>(value.integer()));
      return;
    case AttributeType::kInts:
      if (value.has_integer()) value = IntsValue(std::vector<int64_t>(FilledLength(attribute), value.integer()));
      if (IsEmptyList(value)) value = IntsValue({});
      return;
    case AttributeType::kFloats:
      if (IsEmptyList(value)) value = FloatsValue({});
      return FitReals(attribute, value);
    case AttributeType::kStrings:
      if (value.has_text()) value = StringsValue({value.text()});
      if (IsEmptyList(value)) value = StringsValue({});
      return;
    default:
      return;
  }
}

std::vector<std::string> CheckValue(const Attribute& attribute, const proto::Value& value) {
  std::vector<std::string> wrong;
  if (value.has_none()) {
    if (!attribute.nullable) wrong.push_back(Cat("is None; it must be ", WordsFor(attribute)));
    return wrong;
  }
  if (!HasKind(attribute, value.kind_case())) {
    const std::string_view or_none = attribute.nullable ? " or None" : "";
    wrong.push_back(Cat("is ", ValueText(value), "; it must be ", WordsFor(attribute), or_none));
    return wrong;
  }
  CheckContent(attribute, value, wrong);
  return wrong;
}

absl::StatusOr<proto::Value> DefaultValue(const Attribute& attribute) {
  if (!attribute.default_value.has_value()) return InternalError(attribute.name, " has no default");
  absl::StatusOr<proto::Value> value = ParseValue(*attribute.default_value);
  if (!value.ok()) return InternalError("default of ", attribute.name, ": ", value.status().message());
  FitValue(attribute, *value);
  const std::vector<std::string> wrong = CheckValue(attribute, *value);
  if (!wrong.empty()) return InternalError("default: ", attribute.name, " ", wrong[0]);
  return value;
}

}  // namespace headrace::ir
