#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "kernels/chooser.h"

namespace headrace {
namespace {

class RandomChoice : public Chooser {
 public:
  explicit RandomChoice(const ir::Attributes& attributes) {
    if (!attributes.IsNone("p")) weights_ = attributes.Floats("p");
    sum_ = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  }

  Drawn Draw(size_t branches, RowRandom& random) const override {
    if (weights_.empty()) return {static_cast<size_t>(random.Below(branches))};
    const double drawn = random.Uniform() * sum_;
    double below = 0;
    size_t chosen = 0;
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] == 0) continue;
      // Rounding may leave the last sum below what is drawn.
      chosen = i;
      below += weights_[i];
      if (drawn < below) break;
    }
    return {chosen};
  }

 private:
  std::vector<double> weights_;  // empty: equal ones
  double sum_;
};

absl::StatusOr<ir::Branching> BranchingOfRandomChoice(const ir::Attributes& attributes, size_t branches) {
  if (attributes.IsNone("p")) return ir::Branching{.drawn = std::vector<bool>(branches, true)};
  const std::vector<double> weights = attributes.Floats("p");
  if (weights.size() != branches) return GraphError("p has ", weights.size(), " weights for ", branches, " branches");
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(sum > 0 && std::isfinite(sum))) return GraphError("p needs a weight above 0, and a finite sum; got ", sum);
  ir::Branching branching;
  for (const double weight : weights) branching.drawn.push_back(weight > 0);
  return branching;
}

const KernelRegistration random_choice_registration{
    {.name = "RandomChoice",
     .summary = "Applies one of several kernels, or of several lists of kernels, to each row.",
     .doc =
         "Takes the columns that the kernels take, of any type; above batch, a batch is one row. One branch is drawn "
         "for all columns, each as likely as its weight says. Branches end with the same dtypes; where their sizes "
         "differ, the size is not known. torchvision's RandomChoice.\n"
         "Errors: branches of different dtypes; weights that are not as many as branches, or all 0; Python "
         "functions.",
     .max_inputs = -1,
     .attributes = {{.name = "p",
                     .type = ir::AttributeType::kFloats,
                     .doc = "A weight for each branch, of any sum; a branch of weight 0 is never drawn. None: equal "
                            "ones.",
                     .default_value = "None",
                     .nullable = true,
                     .minimum = 0,
                     .length = ir::ListLength{}}},
     .traits = {.random = true},
     .python_module = "vision",
     .python = {.parameters = "branches: Sequence[Kernel | Sequence[Kernel]], p: Sequence[float] | None = None, *, "
                              "seed: int | None = None, name: str | None = None",
                .docs = {{"branches", "Kernels, or lists of kernels that are applied one after the other."},
                         {"p"},
                         {"seed", "The seed of what is drawn here; kernels keep theirs. None: the pipeline's."},
                         {"name"}}},
     .example = "V.RandomChoice([V.Invert(), [V.RandomVerticalFlip(), V.Equalize()]], p=[2, 1])",
     .branching = BranchingOfRandomChoice},
    Makes<RandomChoice>()};

}  // namespace
}  // namespace headrace
