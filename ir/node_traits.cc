#include "ir/node_traits.h"

#include <algorithm>

#include "core/text.h"
#include "ir/graph.pb.h"

namespace headrace::ir {
namespace {

bool HasIndex(const Declaration& declaration, const proto::Node& node) {
  return std::any_of(node.attributes().begin(), node.attributes().end(), [&](const proto::Attribute& given) {
    if (given.value().kind_case() == proto::Value::kNone) return false;
    const Attribute* const attribute = declaration.FindAttribute(given.name());
    return attribute != nullptr && attribute->indexes;
  });
}

}  // namespace

Traits TraitsOf(const proto::Node& node) {
  const Declaration* const declaration = Registry::Global().Find(node.op());
  if (declaration == nullptr) return {};
  Traits traits = declaration->traits;
  if (traits.indexed || !HasIndex(*declaration, node)) return traits;
  traits.indexed = true;
  traits.random = false;
  return traits;
}

Traits TraitsOf(const proto::Step& step) {
  const Declaration* const declaration = Registry::Global().Find(step.kernel());
  return declaration == nullptr ? Traits() : declaration->traits;
}

std::string HowToIndex(std::string_view before, const proto::Node& source) {
  const Declaration* const declaration = Registry::Global().Find(source.op());
  if (declaration == nullptr) return "";
  for (const Attribute& attribute : declaration->attributes) {
    if (!attribute.indexes) continue;
    return Cat(before, attribute.name, "=\"build\"", attribute.path ? " or the path of an index" : "");
  }
  return "";
}

}  // namespace headrace::ir
