#include "ir/attributes.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "core/path_text.h"
#include "core/text.h"
#include "ir/graph.pb.h"
#include "ir/parameters.h"
#include "ir/schema_proto.h"

namespace headrace::ir {
namespace {

using AttributesKind = proto::Value::KindCase;

[[noreturn]] void Die(std::string_view name, std::string_view why) {
  std::fputs(Cat("Headrace: attribute \"", name, "\" ", why, "; declarations and code disagree\n").c_str(), stderr);
  std::abort();
}

const proto::Value& Get(const Attributes& attributes, std::string_view name) {
  const proto::Value* value = attributes.Find(name);
  if (value == nullptr) Die(name, "is missing");
  return *value;
}

const proto::Value& Get(const Attributes& attributes, std::string_view name, AttributesKind kind) {
  const proto::Value& value = Get(attributes, name);
  if (value.kind_case() != kind) Die(name, "has another type than was asked for");
  return value;
}

}  // namespace

struct Attributes::Values {
  std::map<std::string, proto::Value, std::less<>> by_name;
};

template <typename Entries>
Attributes Attributes::OfEntries(const Entries& entries) {
  auto values = std::make_shared<Values>();
  for (const proto::Attribute& attribute : entries) {
    values->by_name.insert_or_assign(attribute.name(), attribute.value());
  }
  Attributes attributes;
  attributes.values_ = std::move(values);
  return attributes;
}

Attributes Attributes::Of(const proto::Node& node) { return OfEntries(node.attributes()); }

Attributes Attributes::Of(const proto::Step& step) {
  // Parameters have no values yet.
  return ReadsParameter(step) ? OfEntries(WithExamples(step, 0).attributes()) : OfEntries(step.attributes());
}

bool Attributes::IsNone(std::string_view name) const { return Get(*this, name).kind_case() == AttributesKind::kNone; }

bool Attributes::Bool(std::string_view name) const { return Get(*this, name, AttributesKind::kBoolean).boolean(); }

int64_t Attributes::Int(std::string_view name) const { return Get(*this, name, AttributesKind::kInteger).integer(); }

double Attributes::Float(std::string_view name) const {
  const proto::Value& value = Get(*this, name);
  if (value.kind_case() == AttributesKind::kInteger) return static_cast<double>(value.integer());
  return Get(*this, name, AttributesKind::kReal).real();
}

const std::string& Attributes::String(std::string_view name) const {
  return Get(*this, name, AttributesKind::kText).text();
}

std::vector<int64_t> Attributes::Ints(std::string_view name) const {
  const auto& values = Get(*this, name, AttributesKind::kIntegers).integers().values();
  return {values.begin(), values.end()};
}

std::vector<double> Attributes::Floats(std::string_view name) const {
  const proto::Value& value = Get(*this, name);
  if (value.kind_case() == AttributesKind::kIntegers) {
    return {value.integers().values().begin(), value.integers().values().end()};
  }
  const auto& values = Get(*this, name, AttributesKind::kReals).reals().values();
  return {values.begin(), values.end()};
}

ir::Number Attributes::Number(std::string_view name) const {
  const proto::Value& value = Get(*this, name);
  if (value.kind_case() == AttributesKind::kInteger) return value.integer();
  return Get(*this, name, AttributesKind::kReal).real();
}

std::vector<ir::Number> Attributes::Numbers(std::string_view name) const {
  const proto::Value& value = Get(*this, name);
  if (value.kind_case() == AttributesKind::kIntegers) {
    return {value.integers().values().begin(), value.integers().values().end()};
  }
  const auto& values = Get(*this, name, AttributesKind::kReals).reals().values();
  return {values.begin(), values.end()};
}

std::vector<std::string> Attributes::Strings(std::string_view name) const {
  const auto& values = Get(*this, name, AttributesKind::kTexts).texts().values();
  return {values.begin(), values.end()};
}

std::string Attributes::Path(std::string_view name) const { return PathOfText(String(name)); }

std::vector<std::string> Attributes::Paths(std::string_view name) const {
  std::vector<std::string> paths;
  for (const std::string& text : Get(*this, name, AttributesKind::kTexts).texts().values()) {
    paths.push_back(PathOfText(text));
  }
  return paths;
}

DType Attributes::Type(std::string_view name) const {
  std::optional<DType> dtype = DTypeFromName(String(name));
  if (!dtype.has_value()) Die(name, "names no dtype");
  return *dtype;
}

std::vector<std::pair<std::string, std::string>> Attributes::Pairs(std::string_view name) const {
  const proto::Pairs& pairs = Get(*this, name, AttributesKind::kPairs).pairs();
  if (pairs.keys_size() != pairs.values_size()) Die(name, "has keys without values");
  std::vector<std::pair<std::string, std::string>> result;
  for (int i = 0; i < pairs.keys_size(); ++i) result.emplace_back(pairs.keys(i), pairs.values(i));
  return result;
}

std::vector<std::pair<std::string, std::string>> Attributes::PathPairs(std::string_view name) const {
  std::vector<std::pair<std::string, std::string>> pairs = Pairs(name);
  for (auto& [key, value] : pairs) key = PathOfText(key);
  return pairs;
}

const proto::Expression& Attributes::Expr(std::string_view name) const {
  return Get(*this, name, AttributesKind::kExpression).expression();
}

Schema Attributes::Columns(std::string_view name) const {
  absl::StatusOr<Schema> schema = SchemaFromProto(Get(*this, name, AttributesKind::kColumns).columns());
  if (!schema.ok()) Die(name, "is no schema");
  return *std::move(schema);
}

const std::string& Attributes::ReferenceName(std::string_view name) const {
  return Get(*this, name, AttributesKind::kReference).reference().name();
}

void Attributes::Set(std::string name, proto::Value value) {
  // Copies share the values of the original.
  auto values = values_ == nullptr ? std::make_shared<Values>() : std::make_shared<Values>(*values_);
  values->by_name[std::move(name)] = std::move(value);
  values_ = std::move(values);
}

const proto::Value* Attributes::Find(std::string_view name) const {
  if (values_ == nullptr) return nullptr;
  auto found = values_->by_name.find(name);
  return found == values_->by_name.end() ? nullptr : &found->second;
}

}  // namespace headrace::ir
