// `MixtureDraws` tells which input of a mixture each draw takes: one of those that are left, with its share of their
// weights. A draw follows from the epoch's key, its own number and which inputs are left: attempt a of draw d compares
// the Uniform number a of RowRandom(key, d) with the cumulated weights. Where the drawn input turns out to have no row,
// it may be left out, and the next attempt of the same draw takes another one.
// Threads: one thread at a time.
#ifndef HEADRACE_OPS_MIX_MIXTURE_DRAWS_H_
#define HEADRACE_OPS_MIX_MIXTURE_DRAWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace {

class MixtureDraws {
 public:
  // At least one weight, each finite and above 0. Draws have 53 bits: inputs with shares of nearly 2^-53 of the sum or
  // less are drawn too rarely, or never, while those with larger ones are left.
  explicit MixtureDraws(std::vector<double> weights);

  // Begins an epoch, with all inputs; `key` is RowRandom's for it.
  void Begin(uint64_t key);
  // The input taken, while any is left.
  size_t At(uint64_t draw, int attempt);
  void LeaveOut(size_t input);
  bool left(size_t input) const { return shares_[input] > 0; }
  size_t inputs_left() const { return inputs_left_; }

 private:
  static constexpr uint64_t kAtOnce = 256;

  double UniformOf(uint64_t draw, int attempt);
  void Cumulate();

  const std::vector<double> weights_;
  std::vector<double> shares_;  // the weights of the inputs that are left; 0: left out
  // Up to each input, of the shares divided by the largest, so that no sum overflows.
  std::vector<double> ends_;
  size_t last_ = 0;  // the last input that is left
  size_t inputs_left_ = 0;
  uint64_t key_ = 0;
  // The first numbers of the draws from `first_` on.
  std::array<double, kAtOnce> uniform_ = {};
  uint64_t first_ = 0;
  bool filled_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_MIX_MIXTURE_DRAWS_H_
