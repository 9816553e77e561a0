// `DrawMixture` makes the draws of one epoch of a mixture from the numbers of rows of its inputs.
// Threads: pure functions.
#ifndef HEADRACE_OPS_MIX_MIXTURE_ROWS_H_
#define HEADRACE_OPS_MIX_MIXTURE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "ops/mix/mixture_draws.h"

namespace headrace {

// What the draw of an input without a row left does.
enum class MixtureStop {
  kFirst,   // it ends the epoch
  kAll,     // it is drawn no more; the epoch ends when all are empty
  kRepeat,  // it begins again; the epoch ends when each has been found empty once
};

// Calls `give` with the input of each row of the epoch that `draws` has begun, and `begin_pass` with an input and the
// number of its pass, from 1 on, where it begins again; `sizes` are the rows of the inputs, none of them 0 under
// kRepeat. Stops, and returns false, where one of the calls returns false.
template <typename Give, typename BeginPass>
bool DrawMixture(MixtureStop stop, absl::Span<const uint64_t> sizes, MixtureDraws& draws, Give give,
                 BeginPass begin_pass) {
  std::vector<uint64_t> left(sizes.begin(), sizes.end());
  std::vector<bool> ended(sizes.size());
  std::vector<uint64_t> passes(sizes.size());
  size_t unended = sizes.size();
  for (uint64_t draw = 0;; ++draw) {
    size_t input = draws.At(draw, 0);
    for (int attempt = 1; left[input] == 0; ++attempt) {
      if (stop == MixtureStop::kFirst) return true;
      unended -= ended[input] ? 0 : 1;
      ended[input] = true;
      if (unended == 0) return true;
      if (stop == MixtureStop::kRepeat) {
        if (!begin_pass(input, ++passes[input])) return false;
        left[input] = sizes[input];
      } else {
        draws.LeaveOut(input);
        input = draws.At(draw, attempt);
      }
    }
    --left[input];
    if (!give(input)) return false;
  }
}

}  // namespace headrace

#endif  // HEADRACE_OPS_MIX_MIXTURE_ROWS_H_
