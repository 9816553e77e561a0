#include "ops/order/keyed_permutation.h"

#include <algorithm>
#include <bit>

#include "core/row_id.h"

namespace headrace {

KeyedPermutation::KeyedPermutation(uint64_t size, uint64_t key) : size_(size) {
  low_bits_ = std::max<int>(1, std::bit_width(size > 0 ? size - 1 : 0) / 2);
  low_mask_ = (uint64_t{1} << low_bits_) - 1;
  highs_ = size > 0 ? ((size - 1) >> low_bits_) + 1 : 1;
  for (size_t round = 0; round < keys_.size(); ++round) keys_[round] = MixKey(key, round);
  swapped_ = size > 1 ? MixKey(key, keys_.size()) & 1 : 0;
}

uint64_t KeyedPermutation::Permute(uint64_t value) const {
  uint64_t high = value >> low_bits_;
  uint64_t low = value & low_mask_;
  for (size_t round = 0; round < keys_.size(); round += 2) {
    // The upper bits of the product spread the 64 bits over the blocks.
    const unsigned __int128 product = static_cast<unsigned __int128>(Scramble(low ^ keys_[round])) * highs_;
    high += static_cast<uint64_t>(product >> 64);
    high -= high >= highs_ ? highs_ : 0;
    low ^= Scramble(high ^ keys_[round + 1]) & low_mask_;
  }
  return high << low_bits_ | low;
}

uint64_t KeyedPermutation::At(uint64_t position) const {
  uint64_t value = position < 2 ? position ^ swapped_ : position;
  do {
    value = Permute(value);
  } while (value >= size_);
  return value;
}

}  // namespace headrace
