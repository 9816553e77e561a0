#include "core/philox.h"

#include <cmath>
#include <numbers>

namespace headrace {

PhiloxBlock Philox4x32(PhiloxBlock counter, std::array<uint32_t, 2> key) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53;
  constexpr uint64_t kMultiplier1 = 0xCD9E8D57;
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = kMultiplier0 * counter[0];
    const uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

uint32_t RowRandom::Next32() {
  if (used_ == 4) {
    words_ = Philox4x32({static_cast<uint32_t>(row_), static_cast<uint32_t>(row_ >> 32), static_cast<uint32_t>(block_),
                         static_cast<uint32_t>(block_ >> 32)},
                        {static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32)});
    ++block_;
    used_ = 0;
  }
  return words_[used_++];
}

uint64_t RowRandom::Next64() {
  const uint64_t low = Next32();
  return low | static_cast<uint64_t>(Next32()) << 32;
}

double RowRandom::Uniform() { return static_cast<double>(Next64() >> 11) * 0x1.0p-53; }

uint64_t RowRandom::Below(uint64_t bound) {
  // Rejects the few values that would make the low results likelier.
  while (true) {
    const unsigned __int128 product = static_cast<unsigned __int128>(Next64()) * bound;
    const uint64_t low = static_cast<uint64_t>(product);
    if (low >= bound || low >= -bound % bound) return static_cast<uint64_t>(product >> 64);
  }
}

double RowRandom::Normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-Uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * Uniform());
}

}  // namespace headrace
