#include "ops/source/permutation.h"

#include <algorithm>
#include <bit>

#include "core/row_id.h"

namespace headrace {

KeyedPermutation::KeyedPermutation(uint64_t size, uint64_t seed, uint64_t salt, uint64_t epoch) : size_(size) {
  const int bits = std::max<int>(2, std::bit_width(size > 0 ? size - 1 : 0));
  half_bits_ = (bits + 1) / 2;
  half_mask_ = (uint64_t{1} << half_bits_) - 1;
  uint64_t key = MixKey(MixKey(seed, salt), epoch);
  for (uint64_t& round_key : keys_) round_key = key = Scramble(key);
}

uint64_t KeyedPermutation::Permute(uint64_t value) const {
  uint64_t left = value >> half_bits_;
  uint64_t right = value & half_mask_;
  for (uint64_t key : keys_) {
    const uint64_t next = left ^ (Scramble(right ^ key) & half_mask_);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

uint64_t KeyedPermutation::At(uint64_t position) const {
  uint64_t value = position;
  do {
    value = Permute(value);
  } while (value >= size_);
  return value;
}

}  // namespace headrace
