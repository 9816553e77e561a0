// `UniformPermutation` is a stored permutation of 0 … size-1; all are equally likely. It is made by Fisher and Yates'
// shuffle (Durstenfeld, "Algorithm 235: Random permutation", CACM 1964) with unbiased numbers of the Philox stream that
// its key names.
// Threads: immutable; safe from any thread.
#ifndef HEADRACE_OPS_ORDER_UNIFORM_PERMUTATION_H_
#define HEADRACE_OPS_ORDER_UNIFORM_PERMUTATION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace headrace {

class UniformPermutation {
 public:
  // Takes half a millisecond to make, and 128 KiB.
  static constexpr uint64_t kMostRows = uint64_t{1} << 16;

  // size ≤ kMostRows.
  UniformPermutation(uint64_t size, uint64_t key);

  // Concurrent users share one permutation, across pipelines; while one thread makes it, the others wait.
  static std::shared_ptr<const UniformPermutation> Shared(uint64_t size, uint64_t key);

  // The index at `position`; position < size.
  uint64_t At(uint64_t position) const { return indices_[position]; }
  uint64_t key() const { return key_; }
  size_t bytes() const { return indices_.size() * sizeof(indices_[0]); }

 private:
  const uint64_t key_;
  std::vector<uint16_t> indices_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_UNIFORM_PERMUTATION_H_
