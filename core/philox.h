// `Philox4x32` and `RowRandom` draw counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011). A stream is determined by (seed, salt, row identity) alone, so a row's draws
// do not depend on threads, ranks, position or restarts. A RowRandom is one row's stream and cheap to make.
// Threads: a RowRandom is used by one thread.
#ifndef HEADRACE_CORE_PHILOX_H_
#define HEADRACE_CORE_PHILOX_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "core/row_id.h"

namespace headrace {

using PhiloxBlock = std::array<uint32_t, 4>;

// Ten rounds over a 128-bit counter with a 64-bit key; bit-equal to Random123's philox4x32.
inline PhiloxBlock Philox4x32(PhiloxBlock counter, std::array<uint32_t, 2> key) {
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

class RowRandom {
 public:
  RowRandom(uint64_t seed, uint64_t salt, const RowId& id) : RowRandom(KeyOf(seed, salt, id.epoch), id.key) {}
  // For many rows of one epoch, with their KeyOf.
  RowRandom(uint64_t key, uint64_t row) : key_(key), row_(row) {}
  static uint64_t KeyOf(uint64_t seed, uint64_t salt, uint64_t epoch) { return KeyOf(StreamOf(seed, salt), epoch); }
  static uint64_t KeyOf(uint64_t stream, uint64_t epoch) { return MixKey(stream, epoch); }
  static uint64_t StreamOf(uint64_t seed, uint64_t salt) { return MixKey(seed, salt); }

  uint32_t Next32() {
    if (used_ == 4) {
      words_ = Philox4x32({static_cast<uint32_t>(row_), static_cast<uint32_t>(row_ >> 32),
                           static_cast<uint32_t>(block_), static_cast<uint32_t>(block_ >> 32)},
                          {static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32)});
      ++block_;
      used_ = 0;
    }
    return words_[used_++];
  }
  // The next so many.
  void Fill(absl::Span<uint32_t> words);
  uint64_t Next64() {
    const uint64_t low = Next32();
    return low | static_cast<uint64_t>(Next32()) << 32;
  }
  // Uniform in [0, 1), 53 bits.
  double Uniform() { return static_cast<double>(Next64() >> 11) * 0x1.0p-53; }
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }
  // Uniform in [0, bound), unbiased (Lemire's multiply with rejection); bound ≥ 1.
  uint64_t Below(uint64_t bound);
  // Standard normal (Box and Muller).
  double Normal();
  // The name of the stream for an external generator, such as NumPy's.
  uint64_t key() const { return key_; }
  uint64_t row() const { return row_; }

 private:
  uint64_t key_;
  uint64_t row_;
  uint64_t block_ = 0;
  PhiloxBlock words_ = {};
  int used_ = 4;
};

// The first Uniform of the rows `first`, `first` + 1, … of an epoch, each from its own stream, with the epoch's KeyOf.
void UniformOfRows(uint64_t key, uint64_t first, absl::Span<double> draws);

}  // namespace headrace

#endif  // HEADRACE_CORE_PHILOX_H_
