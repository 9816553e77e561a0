// A keyed permutation of 0 … size-1 that takes no memory: a Feistel network over pairs (high, low), the high half added
// to modulo the fewest blocks that hold all rows and the low half combined bit by bit. What lands beyond the rows,
// which is one block at most, goes through again (cycle walking: Black and Rogaway, "Ciphers with arbitrary finite
// domains", CT-RSA 2002, whose generalized Feistel network this is). Ten rounds are those of FF1 (NIST SP 800-38G). A
// network alone can be confined to even permutations, so a bit of the key says whether the first two rows change
// places. A value; safe from any thread.
#ifndef HEADRACE_OPS_SOURCE_KEYED_PERMUTATION_H_
#define HEADRACE_OPS_SOURCE_KEYED_PERMUTATION_H_

#include <array>
#include <cstdint>

namespace headrace {

class KeyedPermutation {
 public:
  KeyedPermutation(uint64_t size, uint64_t key);

  // The index at `position`; position < size.
  uint64_t At(uint64_t position) const;

 private:
  static constexpr int kRounds = 10;  // even: the halves take turns
  uint64_t Permute(uint64_t value) const;

  uint64_t size_;
  int low_bits_;
  uint64_t low_mask_;
  uint64_t highs_;
  uint64_t swapped_;  // 1: the first two rows change places
  std::array<uint64_t, kRounds> keys_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_KEYED_PERMUTATION_H_
