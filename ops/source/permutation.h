// A keyed permutation of 0 … size-1 that takes no memory: a Feistel network over the next even power of two, walked
// until it lands inside (cycle walking: Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
// A value; safe from any thread.
#ifndef HEADRACE_OPS_SOURCE_PERMUTATION_H_
#define HEADRACE_OPS_SOURCE_PERMUTATION_H_

#include <array>
#include <cstdint>

namespace headrace {

class KeyedPermutation {
 public:
  KeyedPermutation(uint64_t size, uint64_t seed, uint64_t salt, uint64_t epoch);

  // The index at `position`; position < size.
  uint64_t At(uint64_t position) const;

 private:
  static constexpr int kRounds = 6;
  uint64_t Permute(uint64_t value) const;

  uint64_t size_;
  int half_bits_;
  uint64_t half_mask_;
  std::array<uint64_t, kRounds> keys_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_PERMUTATION_H_
