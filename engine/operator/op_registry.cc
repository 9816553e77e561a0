#include <string>
#include <utility>

#include "engine/operator/operator.h"
#include "ir/name_table.h"

namespace headrace {
namespace {

// Never destroyed, because threads may use it while the process exits.
ir::NameTable<OpFactories>& Factories() {
  static auto* const factories = new ir::NameTable<OpFactories>;
  return *factories;
}

}  // namespace

absl::Status RegisterOp(ir::Declaration declaration, OpFactories factories) {
  const std::string name = declaration.name;
  return ir::Registry::Global().Register(std::move(declaration), [&] { Factories().Add(name, std::move(factories)); });
}

OpRegistration::OpRegistration(ir::Declaration declaration, OpFactories factories) {
  ir::RequireRegistered(RegisterOp(std::move(declaration), std::move(factories)));
}

FactoriesRegistration::FactoriesRegistration(std::string_view name, OpFactories factories) {
  const bool added = Factories().Add(std::string(name), std::move(factories));
  ir::RequireRegistered(added ? absl::OkStatus() : InternalError("two operators have factories for ", name));
}

const OpFactories* FindOp(std::string_view name) { return Factories().Find(name); }

}  // namespace headrace
