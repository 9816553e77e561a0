// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011). A stream is named by (seed, salt, row identity) and by nothing else, so a
// row's draws do not depend on threads, ranks, position or restarts.
// A RowRandom is one row's stream: cheap to make, used by one thread.
#ifndef HEADRACE_CORE_PHILOX_H_
#define HEADRACE_CORE_PHILOX_H_

#include <array>
#include <cstdint>

#include "core/row_id.h"

namespace headrace {

using PhiloxBlock = std::array<uint32_t, 4>;

// Ten rounds over a 128-bit counter with a 64-bit key; bit-equal to Random123's philox4x32.
PhiloxBlock Philox4x32(PhiloxBlock counter, std::array<uint32_t, 2> key);

class RowRandom {
 public:
  RowRandom(uint64_t seed, uint64_t salt, const RowId& id) : key_(MixKey(MixKey(seed, salt), id.epoch)), row_(id.key) {}

  uint32_t Next32();
  uint64_t Next64();
  // In [0, 1), 53 bits.
  double Uniform();
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }
  // In [0, bound), unbiased (Lemire's multiply with rejection); bound ≥ 1.
  uint64_t Below(uint64_t bound);
  // Standard normal (Box and Muller).
  double Normal();
  // Names the stream for a generator outside, such as NumPy's.
  uint64_t key() const { return key_; }
  uint64_t row() const { return row_; }

 private:
  uint64_t key_;
  uint64_t row_;
  uint64_t block_ = 0;
  PhiloxBlock words_ = {};
  int used_ = 4;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_PHILOX_H_
