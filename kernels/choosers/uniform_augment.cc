#include <vector>

#include "core/error.h"
#include "kernels/chooser.h"

namespace headrace {
namespace {

class UniformAugment : public Chooser {
 public:
  explicit UniformAugment(const ir::Attributes& attributes) : count_(static_cast<size_t>(attributes.Int("num_ops"))) {}

  // Knuth's selection: each of those that are left is taken with the chance that makes all choices equally likely.
  Drawn Draw(size_t branches, RowRandom& random) const override {
    Drawn drawn;
    size_t wanted = count_;
    for (size_t i = 0; i < branches && wanted > 0; ++i) {
      if (random.Below(branches - i) >= wanted) continue;
      --wanted;
      if (random.Uniform() < 0.5) drawn.push_back(i);
    }
    return drawn;
  }

 private:
  size_t count_;
};

absl::StatusOr<ir::Branching> BranchingOfUniformAugment(const ir::Attributes& attributes, size_t branches) {
  const auto count = static_cast<size_t>(attributes.Int("num_ops"));
  if (count > branches) return GraphError("num_ops is ", count, "; there are ", branches, " kernels");
  return ir::Branching{.drawn = std::vector<bool>(branches, true), .none = true, .several = count > 1};
}

const KernelRegistration uniform_augment_registration{
    {.name = "UniformAugment",
     .summary = "Applies up to a number of kernels that are drawn from a list.",
     .doc = "Takes the columns that the kernels take, of any type. `num_ops` different kernels are drawn, all choices "
            "equally likely; each of them is applied with probability ½, in the order of the list. One draw serves all "
            "columns. A size that any of them changes is not known after them. MindSpore's UniformAugment.\n"
            "Errors: fewer kernels than `num_ops`; kernels that change the dtype; Python functions.",
     .max_inputs = -1,
     .attributes =
         {{.name = "num_ops", .doc = "How many kernels are drawn for a row.", .default_value = "2", .minimum = 1}},
     .traits = {.random = true},
     .python_module = "vision",
     .python = {.parameters = "kernels: Sequence[Kernel | Sequence[Kernel]], num_ops: int = 2, *, seed: int | None = "
                              "None, name: str | None = None",
                .docs = {{"kernels", "Kernels, or lists of kernels that are applied together."},
                         {"num_ops"},
                         {"seed", "The seed of what is drawn here; kernels keep theirs. None: the pipeline's."},
                         {"name"}}},
     .example = "V.UniformAugment([V.RandomRotation(30), V.Equalize(), V.Invert()], num_ops=2)",
     .branching = BranchingOfUniformAugment},
    Makes<UniformAugment>()};

}  // namespace
}  // namespace headrace
