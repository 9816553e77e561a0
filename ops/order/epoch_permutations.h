// A random permutation of 0 … size-1 for each epoch. For up to UniformPermutation::kMostRows rows it is stored, once
// per epoch, and all permutations are equally likely; more rows have a keyed permutation, which takes no memory. Thread
// contract: any thread. Reading the permutation of a recent epoch takes no lock; those of the last epochs are kept.
#ifndef HEADRACE_OPS_ORDER_EPOCH_PERMUTATIONS_H_
#define HEADRACE_OPS_ORDER_EPOCH_PERMUTATIONS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/types/span.h"
#include "core/buffer.h"
#include "ops/order/uniform_permutation.h"

namespace headrace {

class EpochPermutations {
 public:
  EpochPermutations(uint64_t size, uint64_t seed, uint64_t salt);
  EpochPermutations(const EpochPermutations&) = delete;

  // Replaces each position, below `size`, by the index that is there in the epoch.
  void Find(uint64_t epoch, absl::Span<uint64_t> positions) const;

 private:
  // The permutation of one epoch, for readers that register first. It is replaced by that of another epoch when it has
  // no readers.
  class Slot {
   public:
    ~Slot() { Hold(nullptr); }
    // If the permutation of this key is here, calls `read` with it and returns true.
    template <typename Read>
    bool TryRead(uint64_t key, Read read) {
      readers_.fetch_add(1, std::memory_order_seq_cst);
      const UniformPermutation* const here = here_.load(std::memory_order_seq_cst);
      const bool found = here != nullptr && here->key() == key;
      if (found) read(*here);
      readers_.fetch_sub(1, std::memory_order_release);
      return found;
    }
    void Replace(std::shared_ptr<const UniformPermutation> permutation);

   private:
    // Charges the permutation to the pipeline of the running task.
    void Hold(std::shared_ptr<const UniformPermutation> permutation);

    std::mutex replacing_;
    std::shared_ptr<const UniformPermutation> held_;
    MemoryAccount* account_ = nullptr;
    std::atomic<const UniformPermutation*> here_{nullptr};
    std::atomic<int> readers_{0};
  };

  template <typename Read>
  void WithPermutation(uint64_t epoch, Read read) const;

  const uint64_t size_;
  const uint64_t stream_;
  // For two consecutive epochs: one begins while the last rows of the other are read.
  mutable std::array<Slot, 2> slots_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_EPOCH_PERMUTATIONS_H_
