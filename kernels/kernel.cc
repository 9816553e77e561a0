#include "kernels/kernel.h"

#include <map>
#include <string>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

// Filled before main by the registrations, read-only afterwards.
std::map<std::string, KernelFactory, std::less<>>& Factories() {
  static auto* const factories = new std::map<std::string, KernelFactory, std::less<>>;
  return *factories;
}

}  // namespace

absl::StatusOr<Tensors> UnaryKernel::Apply(absl::Span<const Tensor> inputs, KernelContext& context) const {
  if (inputs.size() != 1) return InternalError("a kernel of one input got ", inputs.size());
  absl::StatusOr<Tensor> output = Apply(inputs[0], context);
  if (!output.ok()) return std::move(output).status();
  absl::StatusOr<Tensors> outputs(absl::in_place, 1);
  (*outputs)[0] = *std::move(output);
  return outputs;
}

KernelRegistration::KernelRegistration(ir::Declaration declaration, KernelFactory factory) {
  declaration.role = ir::Role::kKernel;
  declaration.traits.one_to_one = true;
  Factories().emplace(declaration.name, std::move(factory));
  ir::Registry::Global().Register(std::move(declaration));
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeKernel(std::string_view name, const ir::Attributes& attributes) {
  const auto found = Factories().find(name);
  if (found == Factories().end()) return InternalError("no kernel named ", name, " is linked in");
  return found->second(attributes);
}

}  // namespace headrace
