#include "ir/attributes.h"

#include <cstdio>
#include <cstdlib>

#include "core/text.h"
#include "ir/parameters.h"
#include "ir/schema_proto.h"

namespace headrace::ir {
namespace {

using Kind = proto::Value::KindCase;

[[noreturn]] void Die(std::string_view name, std::string_view why) {
  std::fputs(Cat("Headrace: attribute \"", name, "\" ", why, "; declarations and code disagree\n").c_str(), stderr);
  std::abort();
}

template <typename Entries>
std::map<std::string, proto::Value, std::less<>> ByName(const Entries& entries) {
  std::map<std::string, proto::Value, std::less<>> values;
  for (const proto::Attribute& attribute : entries) values[attribute.name()] = attribute.value();
  return values;
}

const proto::Value& Get(const Attributes& attributes, std::string_view name) {
  const proto::Value* value = attributes.Find(name);
  if (value == nullptr) Die(name, "is missing");
  return *value;
}

const proto::Value& Get(const Attributes& attributes, std::string_view name, Kind kind) {
  const proto::Value& value = Get(attributes, name);
  if (value.kind_case() != kind) Die(name, "has another type than was asked for");
  return value;
}

}  // namespace

Attributes Attributes::Of(const proto::Node& node) {
  Attributes attributes;
  attributes.values_ = ByName(node.attributes());
  return attributes;
}

Attributes Attributes::Of(const proto::Step& step) {
  Attributes attributes;
  // Parameters have no values yet.
  attributes.values_ = ByName(ReadsParameter(step) ? WithExamples(step, 0).attributes() : step.attributes());
  return attributes;
}

bool Attributes::IsNone(std::string_view name) const { return Get(*this, name).kind_case() == Kind::kNone; }

bool Attributes::Bool(std::string_view name) const { return Get(*this, name, Kind::kBoolean).boolean(); }

int64_t Attributes::Int(std::string_view name) const { return Get(*this, name, Kind::kInteger).integer(); }

double Attributes::Float(std::string_view name) const {
  const proto::Value& value = Get(*this, name);
  if (value.kind_case() == Kind::kInteger) return static_cast<double>(value.integer());
  return Get(*this, name, Kind::kReal).real();
}

const std::string& Attributes::String(std::string_view name) const { return Get(*this, name, Kind::kText).text(); }

std::vector<int64_t> Attributes::Ints(std::string_view name) const {
  const auto& values = Get(*this, name, Kind::kIntegers).integers().values();
  return {values.begin(), values.end()};
}

std::vector<double> Attributes::Floats(std::string_view name) const {
  const proto::Value& value = Get(*this, name);
  if (value.kind_case() == Kind::kIntegers) {
    return {value.integers().values().begin(), value.integers().values().end()};
  }
  const auto& values = Get(*this, name, Kind::kReals).reals().values();
  return {values.begin(), values.end()};
}

ir::Number Attributes::Number(std::string_view name) const {
  const proto::Value& value = Get(*this, name);
  if (value.kind_case() == Kind::kInteger) return value.integer();
  return Get(*this, name, Kind::kReal).real();
}

std::vector<ir::Number> Attributes::Numbers(std::string_view name) const {
  const proto::Value& value = Get(*this, name);
  if (value.kind_case() == Kind::kIntegers) {
    return {value.integers().values().begin(), value.integers().values().end()};
  }
  const auto& values = Get(*this, name, Kind::kReals).reals().values();
  return {values.begin(), values.end()};
}

std::vector<std::string> Attributes::Strings(std::string_view name) const {
  const auto& values = Get(*this, name, Kind::kTexts).texts().values();
  return {values.begin(), values.end()};
}

DType Attributes::Type(std::string_view name) const {
  std::optional<DType> dtype = DTypeFromName(String(name));
  if (!dtype.has_value()) Die(name, "names no dtype");
  return *dtype;
}

std::vector<std::pair<std::string, std::string>> Attributes::Pairs(std::string_view name) const {
  const proto::Pairs& pairs = Get(*this, name, Kind::kPairs).pairs();
  if (pairs.keys_size() != pairs.values_size()) Die(name, "has keys without values");
  std::vector<std::pair<std::string, std::string>> result;
  for (int i = 0; i < pairs.keys_size(); ++i) result.emplace_back(pairs.keys(i), pairs.values(i));
  return result;
}

const proto::Expression& Attributes::Expr(std::string_view name) const {
  return Get(*this, name, Kind::kExpression).expression();
}

Schema Attributes::Columns(std::string_view name) const {
  absl::StatusOr<Schema> schema = SchemaFromProto(Get(*this, name, Kind::kColumns).columns());
  if (!schema.ok()) Die(name, "is no schema");
  return *std::move(schema);
}

const std::string& Attributes::ReferenceName(std::string_view name) const {
  return Get(*this, name, Kind::kReference).reference().name();
}

void Attributes::Set(std::string name, proto::Value value) { values_[std::move(name)] = std::move(value); }

const proto::Value* Attributes::Find(std::string_view name) const {
  auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

}  // namespace headrace::ir
