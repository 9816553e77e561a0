#include "kernels/vision/pixels/normal_numbers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numbers>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/normal_numbers.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vision/pixels/logarithm_inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

// From a number in (0, 1], whose logarithm is finite.
HWY_INLINE V Radius(Bits word) {
  const V positive = hn::Mul(hn::Add(Whole(word), hn::Set(kDoubles, 1)), hn::Set(kDoubles, 0x1.0p-32));
  return hn::Sqrt(hn::Mul(hn::Set(kDoubles, -2), Log(positive)));
}

// A point of the unit circle, to 10 digits, times the radius: the first bits of the word choose a quarter of the
// circle, the others an angle within ±π / 4. Stores x and y of each.
HWY_INLINE void StorePoints(V radius, Bits word, float* to) {
  constexpr double kStep = std::numbers::pi / 2 / (1 << 30);
  const V part = hn::Sub(Whole(hn::And(word, hn::Set(kWords, 0x3FFFFFFF))), hn::Set(kDoubles, 1 << 29));
  const V angle = hn::Mul(hn::Add(part, hn::Set(kDoubles, 0.5)), hn::Set(kDoubles, kStep));
  const V z = hn::Mul(angle, angle);
  const V sine = hn::Mul(Series(z, {-1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0}), angle);
  const V cosine = Series(z, {1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1.0});
  const Bits first = hn::And(hn::ShiftRight<30>(word), hn::Set(kWords, 1));
  const Bits second = hn::ShiftRight<31>(word);
  const auto odd = hn::RebindMask(kDoubles, hn::Ne(first, hn::Zero(kWords)));
  const V x = hn::Mul(radius, hn::IfThenElse(odd, sine, cosine));
  const V y = hn::Mul(radius, hn::IfThenElse(odd, cosine, sine));
  const Bits minus_x = hn::ShiftLeft<63>(hn::Xor(first, second));
  const Bits minus_y = hn::ShiftLeft<63>(second);
  const hn::Rebind<float, Doubles> floats;
  const auto narrowed = [&](V values, Bits sign)
                            HWY_ATTR { return hn::DemoteTo(floats, hn::Xor(values, hn::BitCast(kDoubles, sign))); };
  hn::StoreInterleaved2(narrowed(x, minus_x), narrowed(y, minus_y), floats, to);
}

}  // namespace

// Of two words each, the radius and the direction. `pairs` is a multiple of the lanes of every target.
void Pairs(const uint32_t* HWY_RESTRICT words, size_t pairs, float* HWY_RESTRICT numbers) {
  const hn::Rebind<uint32_t, Doubles> narrow;
  for (size_t i = 0; i < pairs; i += hn::Lanes(kDoubles)) {
    hn::Vec<decltype(narrow)> radius, direction;
    hn::LoadInterleaved2(narrow, words + 2 * i, radius, direction);
    StorePoints(Radius(hn::PromoteTo(kWords, radius)), hn::PromoteTo(kWords, direction), numbers + 2 * i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(Pairs);

void FillNormal(RowRandom& random, absl::Span<float> numbers) {
  constexpr size_t kAtOnce = 128;
  uint32_t words[kAtOnce] = {};
  float made[kAtOnce];
  while (!numbers.empty()) {
    const size_t count = std::min(kAtOnce, numbers.size());
    random.Fill(absl::MakeSpan(words, count + count % 2));
    HWY_DYNAMIC_DISPATCH(Pairs)(words, kAtOnce / 2, made);
    std::copy_n(made, count, numbers.data());
    numbers.remove_prefix(count);
  }
}

}  // namespace headrace
#endif  // HWY_ONCE
