// `EpochPermutations` gives a random permutation of 0 … size-1 for each epoch. For up to UniformPermutation::kMostRows
// rows it is stored, once per epoch, and all permutations are equally likely; more rows have a keyed permutation, which
// takes no memory.
// Threads: any thread. Reading the permutation of a recent epoch takes no lock; those of the last epochs are kept.
#ifndef HEADRACE_OPS_ORDER_EPOCH_PERMUTATIONS_H_
#define HEADRACE_OPS_ORDER_EPOCH_PERMUTATIONS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "ops/order/epoch_slots.h"
#include "ops/order/uniform_permutation.h"

namespace headrace {

class EpochPermutations {
 public:
  EpochPermutations(uint64_t size, uint64_t seed, uint64_t salt);
  EpochPermutations(const EpochPermutations&) = delete;

  // Replaces each position, below `size`, by the index that is there in the epoch.
  void Find(uint64_t epoch, absl::Span<uint64_t> positions) const;

 private:
  const uint64_t size_;
  const uint64_t stream_;
  mutable EpochSlots<UniformPermutation> stored_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_EPOCH_PERMUTATIONS_H_
