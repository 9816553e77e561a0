// `Chooser` is a kernel that chooses among others: it holds branches, lists of kernels, and draws for each row those
// that the row goes through. What is drawn depends on the row's identity alone, so that it is known before a pixel is
// read: the caller evaluates all choosers first (VisitDrawn), and then runs the remaining kernels as if they had been
// written one after the other.
// Threads: that of kernels.
#ifndef HEADRACE_KERNELS_CHOOSER_H_
#define HEADRACE_KERNELS_CHOOSER_H_

#include <cstddef>

#include "absl/container/inlined_vector.h"
#include "core/philox.h"
#include "kernels/kernel.h"

namespace headrace {

class Chooser : public Kernel {
 public:
  // Branches by number, in the order in which a row goes through them.
  using Drawn = absl::InlinedVector<size_t, 8>;

  // Draws the branches of a row, as `branching` in the declaration allows. `branches`: how many there are.
  virtual Drawn Draw(size_t branches, RowRandom& random) const = 0;

  // Fails: a chooser holds no pixels, and does not know its branches.
  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const final;
};

// Visits the steps that a row goes through, in order; a chooser before those that it draws. A step has `chooser`, which
// is null for other kernels, and `branches`, lists of steps. random(step) gives the row's numbers for a chooser.
template <typename Steps, typename Random, typename Visit>
void VisitDrawn(const Steps& steps, const Random& random, const Visit& visit) {
  for (const auto& step : steps) {
    visit(step);
    if (step.chooser == nullptr) continue;
    RowRandom numbers = random(step);
    for (const size_t branch : step.chooser->Draw(step.branches.size(), numbers)) {
      VisitDrawn(step.branches[branch], random, visit);
    }
  }
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CHOOSER_H_
