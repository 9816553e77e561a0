// `KeyedPermutation` is a keyed permutation of 0 … size-1 that takes no memory: a Feistel network over pairs (high,
// low). The high half is added modulo the smallest number of blocks that holds all rows; the low half is combined bit
// by bit. A result beyond the rows, at most one block, goes through the network again (cycle walking: Black and
// Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002, also the source of this generalized Feistel network).
// The ten rounds are those of FF1 (NIST SP 800-38G). A network alone can be confined to even permutations, so one bit
// of the key swaps the first two rows or not.
// Threads: a value; safe from any thread.
#ifndef HEADRACE_OPS_ORDER_KEYED_PERMUTATION_H_
#define HEADRACE_OPS_ORDER_KEYED_PERMUTATION_H_

#include <array>
#include <cstdint>

namespace headrace {

class KeyedPermutation {
 public:
  KeyedPermutation(uint64_t size, uint64_t key);

  // The index at `position`; position < size.
  uint64_t At(uint64_t position) const;

 private:
  static constexpr int kRounds = 10;  // even: the halves alternate
  uint64_t Permute(uint64_t value) const;

  uint64_t size_;
  int low_bits_;
  uint64_t low_mask_;
  uint64_t highs_;
  uint64_t swapped_;  // 1: the first two rows are swapped
  std::array<uint64_t, kRounds> keys_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_KEYED_PERMUTATION_H_
