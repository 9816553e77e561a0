// A permutation of 0 … size-1, written out, each as likely as any other: Fisher and Yates' shuffle (Durstenfeld,
// "Algorithm 235: Random permutation", CACM 1964) by numbers of Philox without bias, which its key names.
// Immutable; safe from any thread.
#ifndef HEADRACE_OPS_SOURCE_UNIFORM_PERMUTATION_H_
#define HEADRACE_OPS_SOURCE_UNIFORM_PERMUTATION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace headrace {

class UniformPermutation {
 public:
  // Made in half a millisecond, and 128 KiB large.
  static constexpr uint64_t kMostRows = uint64_t{1} << 16;

  // size ≤ kMostRows.
  UniformPermutation(uint64_t size, uint64_t key);

  // Made once for all who hold it at the same time, in whichever pipeline; the others wait for the one that makes it.
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

#endif  // HEADRACE_OPS_SOURCE_UNIFORM_PERMUTATION_H_
