#include <vector>

#include "core/error.h"
#include "kernels/chooser.h"

namespace headrace {
namespace {

class RandomApply : public Chooser {
 public:
  explicit RandomApply(const ir::Attributes& attributes) : p_(attributes.Float("p")) {}

  Drawn Draw(size_t, RowRandom& random) const override { return random.Uniform() < p_ ? Drawn{0} : Drawn{}; }

 private:
  double p_;
};

absl::StatusOr<ir::Branching> BranchingOfRandomApply(const ir::Attributes& attributes, size_t branches) {
  if (branches != 1) return GraphError("has one list of kernels, not ", branches);
  const double p = attributes.Float("p");
  return ir::Branching{.drawn = {p > 0}, .none = p < 1};
}

const KernelRegistration random_apply_registration{
    {.name = "RandomApply",
     .summary = "Applies kernels to some rows.",
     .doc = "Takes the columns that the kernels take, of any type. With probability `p` a row goes through all of "
            "them, in order; else it stays as it is. One draw serves all columns. Where the sizes of both differ, the "
            "size is not known. torchvision's RandomApply.\n"
            "Errors: kernels that change the dtype, unless `p` is 0 or 1; Python functions.",
     .max_inputs = -1,
     .attributes = {{.name = "p",
                     .type = ir::AttributeType::kFloat,
                     .doc = "The probability.",
                     .default_value = "0.5",
                     .minimum = 0,
                     .maximum = 1}},
     .traits = {.random = true},
     .python_module = "vision",
     .python = {.parameters = "kernels: Kernel | Sequence[Kernel], p: float = 0.5, *, seed: int | None = None, name: "
                              "str | None = None",
                .docs = {{"kernels", "A kernel, or several that are applied one after the other."},
                         {"p"},
                         {"seed", "The seed of what is drawn here; kernels keep theirs. None: the pipeline's."},
                         {"name"}}},
     .example = "V.RandomApply([V.GaussianBlur(5), V.RandomInvert()], p=0.3)",
     .branching = BranchingOfRandomApply},
    Makes<RandomApply>()};

}  // namespace
}  // namespace headrace
