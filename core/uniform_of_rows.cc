// Philox of several rows at once, one to a 64-bit lane; philox.h has the definition.
#include "core/philox.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/uniform_of_rows.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void DrawUniforms(uint64_t key, uint64_t first, size_t count, double* draws) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<uint64_t, 8> words;
  const hn::Repartition<uint32_t, decltype(words)> halves;
  const hn::RebindToSigned<decltype(words)> integers;
  const hn::RebindToFloat<decltype(words)> doubles;
  const auto multiplier0 = hn::Set(halves, 0xD2511F53u);
  const auto multiplier1 = hn::Set(halves, 0xCD9E8D57u);
  const size_t step = hn::Lanes(words);
  for (; i + step <= count; i += step) {
    // Only the lower half of each lane is significant.
    auto counter0 = hn::Iota(words, first + i);
    auto counter1 = hn::ShiftRight<32>(counter0);
    auto counter2 = hn::Zero(words);
    auto counter3 = hn::Zero(words);
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
    const auto low = hn::And(counter0, hn::Set(words, 0xFFFFFFFFu));
    const auto drawn = hn::ShiftRight<11>(hn::Or(low, hn::ShiftLeft<32>(counter1)));
    const auto unit = hn::Mul(hn::ConvertTo(doubles, hn::BitCast(integers, drawn)), hn::Set(doubles, 0x1.0p-53));
    hn::StoreU(unit, doubles, draws + i);
  }
#endif
  for (; i < count; ++i) draws[i] = RowRandom(key, first + i).Uniform();
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(DrawUniforms);

void UniformOfRows(uint64_t key, uint64_t first, absl::Span<double> draws) {
  HWY_DYNAMIC_DISPATCH(DrawUniforms)(key, first, draws.size(), draws.data());
}

}  // namespace headrace
#endif
