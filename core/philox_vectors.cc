// Philox of several rows, or of several blocks of one row, at once, one to a 64-bit lane; philox.h has the definition.
#include <algorithm>

#include "core/philox.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/philox_vectors.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using Words = hn::CappedTag<uint64_t, 8>;

// Of each lane, the lower half alone is significant.
struct Counters {
  hn::Vec<Words> of[4];
};

HWY_INLINE void TenRounds(uint64_t key, Counters& counters) {
  const Words words;
  const hn::Repartition<uint32_t, Words> halves;
  const auto multiplier0 = hn::Set(halves, 0xD2511F53u);
  const auto multiplier1 = hn::Set(halves, 0xCD9E8D57u);
  auto& [counter0, counter1, counter2, counter3] = counters.of;
  auto key0 = static_cast<uint32_t>(key);
  auto key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const auto product0 = hn::MulEven(hn::BitCast(halves, counter0), multiplier0);
    const auto product1 = hn::MulEven(hn::BitCast(halves, counter2), multiplier1);
    counter0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), counter1), hn::Set(words, key0));
    counter1 = product1;
    counter2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), counter3), hn::Set(words, key1));
    counter3 = product0;
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
}

// The lower halves of both, the first one below.
HWY_INLINE hn::Vec<Words> Joined(hn::Vec<Words> first, hn::Vec<Words> second) {
  return hn::Or(hn::And(first, hn::Set(Words(), 0xFFFFFFFFu)), hn::ShiftLeft<32>(second));
}

#endif

void DrawUniforms(uint64_t key, uint64_t first, size_t count, double* draws) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const Words words;
  const hn::RebindToSigned<Words> integers;
  const hn::RebindToFloat<Words> doubles;
  const size_t step = hn::Lanes(words);
  for (; i + step <= count; i += step) {
    const auto row = hn::Iota(words, first + i);
    Counters counters = {{row, hn::ShiftRight<32>(row), hn::Zero(words), hn::Zero(words)}};
    TenRounds(key, counters);
    const auto drawn = hn::ShiftRight<11>(Joined(counters.of[0], counters.of[1]));
    const auto unit = hn::Mul(hn::ConvertTo(doubles, hn::BitCast(integers, drawn)), hn::Set(doubles, 0x1.0p-53));
    hn::StoreU(unit, doubles, draws + i);
  }
#endif
  for (; i < count; ++i) draws[i] = RowRandom(key, first + i).Uniform();
}

// As many blocks of the row as fit into vectors, from block `first` on; returns how many.
#if HWY_TARGET == HWY_SCALAR
size_t DrawBlocks(uint64_t, uint64_t, uint64_t, size_t, uint32_t*) { return 0; }
#else
size_t DrawBlocks(uint64_t key, uint64_t row, uint64_t first, size_t blocks, uint32_t* drawn) {
  size_t i = 0;
  const Words words;
  const size_t step = hn::Lanes(words);
  for (; i + step <= blocks; i += step) {
    const auto block = hn::Iota(words, first + i);
    Counters counters = {{hn::Set(words, row), hn::Set(words, row >> 32), block, hn::ShiftRight<32>(block)}};
    TenRounds(key, counters);
    hn::StoreInterleaved2(Joined(counters.of[0], counters.of[1]), Joined(counters.of[2], counters.of[3]), words,
                          reinterpret_cast<uint64_t*>(drawn + 4 * i));
  }
  return i;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(DrawUniforms);
HWY_EXPORT(DrawBlocks);

void UniformOfRows(uint64_t key, uint64_t first, absl::Span<double> draws) {
  HWY_DYNAMIC_DISPATCH(DrawUniforms)(key, first, draws.size(), draws.data());
}

void RowRandom::Fill(absl::Span<uint32_t> words) {
  while (!words.empty() && used_ < 4) {
    words.front() = Next32();
    words.remove_prefix(1);
  }
  const size_t blocks = HWY_DYNAMIC_DISPATCH(DrawBlocks)(key_, row_, block_, words.size() / 4, words.data());
  block_ += blocks;
  words.remove_prefix(4 * blocks);
  for (uint32_t& word : words) word = Next32();
}

}  // namespace headrace
#endif
