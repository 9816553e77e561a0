#include "kernels/kernel.h"

#include <utility>

#include "core/error.h"
#include "ir/name_table.h"

namespace headrace {
namespace {

// Never destroyed, because threads may use it while the process exits.
ir::NameTable<KernelFactory>& Factories() {
  static auto* const factories = new ir::NameTable<KernelFactory>;
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

absl::Status RegisterKernel(ir::Declaration declaration, KernelFactory factory) {
  declaration.role = ir::Role::kKernel;
  declaration.traits.one_to_one = true;
  const std::string name = declaration.name;
  if (declaration.infer_kernel == nullptr && declaration.branching == nullptr) {
    return GraphError("the declaration of ", name, " does not infer the types of its outputs");
  }
  return ir::Registry::Global().Register(std::move(declaration), [&] { Factories().Add(name, std::move(factory)); });
}

KernelRegistration::KernelRegistration(ir::Declaration declaration, KernelFactory factory) {
  ir::RequireRegistered(RegisterKernel(std::move(declaration), std::move(factory)));
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeKernel(std::string_view name, const ir::Attributes& attributes) {
  const KernelFactory* const factory = Factories().Find(name);
  if (factory == nullptr) return InternalError("no kernel named ", name, " is linked in");
  return (*factory)(attributes);
}

}  // namespace headrace
