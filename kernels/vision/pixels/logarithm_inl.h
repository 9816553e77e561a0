// `Log` and `Exp` compute the logarithm and the exponential of many doubles at once, by additions, multiplications and
// divisions alone, so that every CPU gives the same bits: a mathematical library's differ. The file is included by
// sources that are compiled for each target.
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "hwy/highway.h"

// Highway's guard of what is compiled anew for each target.
#if defined(HEADRACE_KERNELS_VISION_PIXELS_LOGARITHM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADRACE_KERNELS_VISION_PIXELS_LOGARITHM_INL_H_
#undef HEADRACE_KERNELS_VISION_PIXELS_LOGARITHM_INL_H_
#else
#define HEADRACE_KERNELS_VISION_PIXELS_LOGARITHM_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using Words = hn::RebindToUnsigned<Doubles>;
using V = hn::Vec<Doubles>;
using Bits = hn::Vec<Words>;

constexpr Doubles kDoubles;
constexpr Words kWords;

// Numbers below 2^52: in the last bits of 2^52, one stands for itself.
HWY_INLINE V Whole(Bits number) {
  const Bits at = hn::Set(kWords, 0x4330000000000000);
  return hn::Sub(hn::BitCast(kDoubles, hn::Or(number, at)), hn::Set(kDoubles, 0x1.0p52));
}

// The terms from the highest power on.
template <size_t kTerms>
HWY_INLINE V Series(V z, const double (&terms)[kTerms]) {
  V sum = hn::Set(kDoubles, terms[0]);
  for (size_t i = 1; i < kTerms; ++i) sum = hn::Add(hn::Mul(sum, z), hn::Set(kDoubles, terms[i]));
  return sum;
}

// Of a positive normal number, to 13 digits: the exponent, and a series for the rest, which is in [√½, √2).
HWY_INLINE V Log(V x) {
  constexpr uint64_t kRootOfHalf = 0x3FE6A09E667F3BCD;
  constexpr uint64_t kBias = 1024;
  const Bits bits = hn::BitCast(kWords, x);
  const Bits biased = hn::ShiftRight<52>(hn::Sub(bits, hn::Set(kWords, kRootOfHalf - (kBias << 52))));
  const Bits power = hn::ShiftLeft<52>(hn::Sub(biased, hn::Set(kWords, kBias)));
  const V rest = hn::BitCast(kDoubles, hn::Sub(bits, power));
  const V one = hn::Set(kDoubles, 1);
  const V s = hn::Div(hn::Sub(rest, one), hn::Add(rest, one));
  const V series = Series(hn::Mul(s, s), {1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0});
  const V exponent = hn::Sub(Whole(biased), hn::Set(kDoubles, static_cast<double>(kBias)));
  return hn::Add(hn::Mul(exponent, hn::Set(kDoubles, std::numbers::ln2)),
                 hn::Mul(hn::Mul(hn::Set(kDoubles, 2), s), series));
}

// Of -200 … 0, to 13 digits: a power of two, and a series for the rest, which is within ±ln √2.
HWY_INLINE V Exp(V x) {
  // After 1.5 · 2^52 no bit is left for a fraction.
  const V rounder = hn::Set(kDoubles, 0x1.8p52);
  const V rounded = hn::Add(hn::Mul(x, hn::Set(kDoubles, std::numbers::log2e)), rounder);
  const V rest = hn::Sub(x, hn::Mul(hn::Sub(rounded, rounder), hn::Set(kDoubles, std::numbers::ln2)));
  const V series = Series(rest, {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                                 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0});
  const Bits biased = hn::Add(hn::BitCast(kWords, rounded), hn::Set(kWords, 1023));
  return hn::Mul(series, hn::BitCast(kDoubles, hn::ShiftLeft<52>(biased)));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#endif  // HEADRACE_KERNELS_VISION_PIXELS_LOGARITHM_INL_H_
