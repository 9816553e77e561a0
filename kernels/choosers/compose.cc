#include <vector>

#include "core/error.h"
#include "kernels/chooser.h"

namespace headrace {
namespace {

class Compose : public Chooser {
 public:
  explicit Compose(const ir::Attributes&) {}
  Drawn Draw(size_t, RowRandom&) const override { return {0}; }
};

absl::StatusOr<ir::Branching> BranchingOfCompose(const ir::Attributes&, size_t branches) {
  if (branches != 1) return GraphError("has one list of kernels, not ", branches);
  return ir::Branching{.drawn = {true}};
}

const KernelRegistration compose_registration{
    {.name = "Compose",
     .summary = "Applies several kernels to each row, one after the other.",
     .doc = "A list of kernels as one kernel. In map and in other kernels it is the same as the list, and draws the "
            "same. torchvision's Compose.\n"
            "Errors: those of the kernels; Python functions.",
     .max_inputs = -1,
     .python_module = "vision",
     .python = {.parameters = "kernels: Sequence[Kernel]", .docs = {{"kernels", "The kernels, in order."}}},
     .example = "V.Compose([V.Decode(), V.Resize(256), V.CenterCrop(224)])",
     .branching = BranchingOfCompose},
    Makes<Compose>()};

}  // namespace
}  // namespace headrace
