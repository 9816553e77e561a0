#include <numeric>
#include <vector>

#include "core/error.h"
#include "kernels/chooser.h"

namespace headrace {
namespace {

class RandomSelectSubpolicy : public Chooser {
 public:
  explicit RandomSelectSubpolicy(const ir::Attributes& attributes)
      : lengths_(attributes.Ints("lengths")), chances_(attributes.Floats("chances")) {}

  Drawn Draw(size_t, RowRandom& random) const override {
    const size_t chosen = random.Below(lengths_.size());
    const auto end = lengths_.begin() + static_cast<int64_t>(chosen);
    const auto first = static_cast<size_t>(std::accumulate(lengths_.begin(), end, int64_t{0}));
    Drawn drawn;
    for (size_t i = first; i < first + static_cast<size_t>(lengths_[chosen]); ++i) {
      if (random.Uniform() < chances_[i]) drawn.push_back(i);
    }
    return drawn;
  }

 private:
  std::vector<int64_t> lengths_;
  std::vector<double> chances_;
};

absl::StatusOr<ir::Branching> BranchingOfRandomSelectSubpolicy(const ir::Attributes& attributes, size_t branches) {
  const std::vector<double> chances = attributes.Floats("chances");
  int64_t left = static_cast<int64_t>(branches);
  for (const int64_t length : attributes.Ints("lengths")) left = length > left ? -1 : left - length;
  if (left != 0 || chances.size() != branches) {
    return GraphError("its lengths and chances are not those of ", branches, " kernels");
  }
  ir::Branching branching = {.none = true, .several = branches > 1};
  for (const double chance : chances) branching.drawn.push_back(chance > 0);
  return branching;
}

const KernelRegistration random_select_subpolicy_registration{
    {.name = "RandomSelectSubpolicy",
     .summary = "Applies one of several lists of kernels to each row, each kernel with a probability of its own.",
     .doc = "Takes the columns that the kernels take, of any type. One sub-policy is drawn, all equally likely; a row "
            "goes through its kernels in order, through each with the kernel's probability. One draw serves all "
            "columns. A size that any kernel changes is not known after them. MindSpore's RandomSelectSubpolicy.\n"
            "Errors: empty sub-policies; probabilities outside 0 … 1; kernels that change the dtype; Python functions.",
     .max_inputs = -1,
     .attributes = {{.name = "lengths",
                     .type = ir::AttributeType::kInts,
                     .doc = "How many kernels each sub-policy has.",
                     .minimum = 1,
                     .length = ir::ListLength{},
                     .hidden = true},
                    {.name = "chances",
                     .type = ir::AttributeType::kFloats,
                     .doc = "The probability of each kernel, of one sub-policy after the other.",
                     .minimum = 0,
                     .maximum = 1,
                     .length = ir::ListLength{}}},
     .traits = {.random = true},
     .python_module = "vision",
     .python = {.parameters =
                    "policy: Sequence[Sequence[tuple[Kernel | Sequence[Kernel], float | Parameter]]], *, seed: int | "
                    "None = None, name: str | None = None",
                .docs = {{"policy", "Sub-policies: lists of (kernel, probability), or of (kernels, probability)."},
                         {"seed", "The seed of what is drawn here; kernels keep theirs. None: the pipeline's."},
                         {"name"}}},
     .example = "V.RandomSelectSubpolicy([[(V.Invert(), 0.3), (V.Equalize(), 0.9)], [(V.RandomRotation(20), 1)]])",
     .sample = {.attributes = {{"lengths", "(1, 1)"}, {"chances", "(0.5, 1)"}}},
     .branching = BranchingOfRandomSelectSubpolicy},
    Makes<RandomSelectSubpolicy>()};

}  // namespace
}  // namespace headrace
