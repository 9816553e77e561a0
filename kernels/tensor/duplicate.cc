#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"

namespace headrace {
namespace {

class Duplicate : public Kernel {
 public:
  explicit Duplicate(const ir::Attributes&) {}
  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext&) const override {
    return Tensors{inputs[0], inputs[0]};
  }
};

const KernelRegistration duplicate_registration{
    {.name = "Duplicate",
     .summary = "Gives a column twice.",
     .doc = "Takes a tensor of any type and gives it in two columns, which share its memory: MindSpore's Duplicate. "
            "What comes after it may change one and leave the other: ds.map(T.Duplicate(), \"image\", [\"image\", "
            "\"original\"]).\n"
            "Errors: none.",
     .attributes = {},
     .traits = {.keeps_classes = true},
     .python_module = "transforms",
     .example = "T.Duplicate()",
     .sample = {.inputs = {ir::SampleInput::kVector}},
     .infer_kernel = [](const ir::Attributes&, absl::Span<const ir::ColumnType> inputs)
         -> absl::StatusOr<std::vector<ir::ColumnType>> { return std::vector{inputs[0], inputs[0]}; }},
    Makes<Duplicate>()};

}  // namespace
}  // namespace headrace
