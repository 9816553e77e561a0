#include <map>
#include <string>

#include "engine/operator/operator.h"

namespace headrace {
namespace {

std::map<std::string, OpFactories, std::less<>>& Factories() {
  static auto* const factories = new std::map<std::string, OpFactories, std::less<>>;
  return *factories;
}

}  // namespace

OpRegistration::OpRegistration(ir::Declaration declaration, OpFactories factories) {
  Factories().emplace(declaration.name, std::move(factories));
  ir::Registry::Global().Register(std::move(declaration));
}

const OpFactories* FindOp(std::string_view name) {
  const auto found = Factories().find(name);
  return found == Factories().end() ? nullptr : &found->second;
}

}  // namespace headrace
