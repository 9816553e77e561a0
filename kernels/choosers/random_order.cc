#include <numeric>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/chooser.h"

namespace headrace {
namespace {

class RandomOrder : public Chooser {
 public:
  explicit RandomOrder(const ir::Attributes&) {}

  // Fisher and Yates.
  Drawn Draw(size_t branches, RowRandom& random) const override {
    Drawn order(branches);
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t left = branches; left > 1; --left) {
      std::swap(order[left - 1], order[static_cast<size_t>(random.Below(left))]);
    }
    return order;
  }
};

absl::StatusOr<ir::Branching> BranchingOfRandomOrder(const ir::Attributes&, size_t branches) {
  return ir::Branching{.drawn = std::vector<bool>(branches, true), .several = branches > 1};
}

const KernelRegistration random_order_registration{
    {.name = "RandomOrder",
     .summary = "Applies several kernels to each row, in an order that is drawn.",
     .doc = "Takes the columns that the kernels take, of any type. Every row goes through all of them; all orders are "
            "equally likely, and one order serves all columns. A size that any of them changes is not known after "
            "them. torchvision's RandomOrder.\n"
            "Errors: kernels that change the dtype, because others may come before them; Python functions.",
     .max_inputs = -1,
     .traits = {.random = true},
     .python_module = "vision",
     .python = {.parameters = "kernels: Sequence[Kernel | Sequence[Kernel]], *, seed: int | None = None, name: str | "
                              "None = None",
                .docs = {{"kernels", "Kernels, or lists of kernels that stay together."},
                         {"seed", "The seed of what is drawn here; kernels keep theirs. None: the pipeline's."},
                         {"name"}}},
     .example = "V.RandomOrder([V.RandomHorizontalFlip(), V.RandomRotation(10), V.ColorJitter(0.4)])",
     .branching = BranchingOfRandomOrder},
    Makes<RandomOrder>()};

}  // namespace
}  // namespace headrace
