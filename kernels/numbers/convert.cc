#include "kernels/numbers/convert.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/numbers/number.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/numbers/convert.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef HEADRACE_KERNELS_TENSOR_CONVERT_CC_
#define HEADRACE_KERNELS_TENSOR_CONVERT_CC_

namespace headrace {
namespace {

// A type that holds every value of T: conversions go through it, so that each type needs few loops, not one for each
// pair.
template <typename T>
using WideOf = std::conditional_t<kIsHalf<T> || std::is_floating_point_v<T>, double,
                                  std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>;

template <typename T>
inline constexpr bool kFitsFloat = kIsHalf<T> || std::is_same_v<T, float> || (std::is_integral_v<T> && sizeof(T) <= 2);

// Whether From goes through float, half as wide, with the same result.
template <typename From>
bool ThroughFloat(DType to) {
  if (!kFitsFloat<From>) return false;
  if (to == DType::kFloat16 || to == DType::kBFloat16 || to == DType::kFloat32) return true;
  return !std::is_integral_v<From> && ItemSize(to) <= 2;
}

constexpr int64_t kBlock = 512;  // elements that fit in the L1 cache

}  // namespace
}  // namespace headrace

#endif  // HEADRACE_KERNELS_TENSOR_CONVERT_CC_

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToUnsigned<Floats>;
using SignedWords = hn::RebindToSigned<Floats>;
using Halves = hn::Rebind<uint16_t, Floats>;
using Word = hn::Vec<Words>;

// Compares numbers below 2^31.
HWY_INLINE hn::Mask<Words> Below(Word a, uint32_t b) {
  const SignedWords whole;
  return hn::RebindMask(Words(), hn::Lt(hn::BitCast(whole, a), hn::Set(whole, static_cast<int32_t>(b))));
}

// As half_internal::HalfBits, for each of them: the bits are the same on every target.
HWY_INLINE Word BitsOfFloats(Word bits, Float16 /*type*/) {
  const Words d;
  const Floats floats;
  const Word magnitude = hn::And(bits, hn::Set(d, 0x7fffffff));
  const auto shifted = hn::Add(hn::BitCast(floats, magnitude), hn::Set(floats, 0.5f));
  const Word subnormal = hn::Sub(hn::BitCast(d, shifted), hn::Set(d, 0x3f000000));
  const Word odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 1));
  const Word raised = hn::Add(magnitude, hn::Add(odd, hn::Set(d, 0xfff - 0x38000000u)));
  Word half = hn::IfThenElse(Below(magnitude, 0x38800000), subnormal, hn::ShiftRight<13>(raised));
  half = hn::IfThenElse(Below(magnitude, 0x477ff000), half, hn::Set(d, 0x7c00));
  half = hn::IfThenElse(Below(magnitude, 0x7f800001), half, hn::Set(d, 0x7e00));
  return hn::Or(half, hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 0x8000)));
}

HWY_INLINE Word BitsOfFloats(Word bits, BFloat16 /*type*/) {
  const Words d;
  const Word high = hn::ShiftRight<16>(bits);
  const Word rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(hn::And(high, hn::Set(d, 1)), hn::Set(d, 0x7fff))));
  const Word magnitude = hn::And(bits, hn::Set(d, 0x7fffffff));
  return hn::IfThenElse(Below(magnitude, 0x7f800001), rounded, hn::Or(high, hn::Set(d, 0x40)));
}

// As half_internal::HalfValue.
HWY_INLINE Word FloatsOfBits(Word half, Float16 /*type*/) {
  const Words d;
  const Floats floats;
  const Word magnitude = hn::And(half, hn::Set(d, 0x7fff));
  const auto small = hn::Mul(hn::ConvertTo(floats, hn::BitCast(SignedWords(), magnitude)), hn::Set(floats, 0x1p-24f));
  const Word moved = hn::ShiftLeft<13>(magnitude);
  Word bits = hn::IfThenElse(Below(magnitude, 0x400), hn::BitCast(d, small), hn::Add(moved, hn::Set(d, 0x38000000)));
  bits = hn::IfThenElse(Below(magnitude, 0x7c00), bits, hn::Or(moved, hn::Set(d, 0x7f800000)));
  return hn::Or(bits, hn::ShiftLeft<16>(hn::And(half, hn::Set(d, 0x8000))));
}

HWY_INLINE Word FloatsOfBits(Word half, BFloat16 /*type*/) { return hn::ShiftLeft<16>(half); }

// Vectors of floats from `source` on; returns how many were converted.
template <typename Half>
HWY_INLINE int64_t ToHalves(const float* HWY_RESTRICT source, int64_t count, Half* HWY_RESTRICT target) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Word half = BitsOfFloats(hn::BitCast(Words(), hn::LoadU(Floats(), source + i)), Half());
    // They are below 2^16, so that nothing is cut off.
    const auto narrow = hn::DemoteTo(Halves(), hn::BitCast(SignedWords(), half));
    hn::StoreU(narrow, Halves(), reinterpret_cast<uint16_t*>(target) + i);
  }
  return i;
}

template <typename Half>
HWY_INLINE int64_t FromHalves(const Half* HWY_RESTRICT source, int64_t count, float* HWY_RESTRICT target) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto narrow = hn::LoadU(Halves(), reinterpret_cast<const uint16_t*>(source) + i);
    const Word bits = FloatsOfBits(hn::PromoteTo(Words(), narrow), Half());
    hn::StoreU(hn::BitCast(Floats(), bits), Floats(), target + i);
  }
  return i;
}

// A plain loop for every pair of types: compilers vectorize it well, except for halves.
template <typename To, typename From>
HWY_INLINE void Loop(const From* HWY_RESTRICT source, int64_t count, To* HWY_RESTRICT target) {
  int64_t i = 0;
  if constexpr (kIsHalf<To> && std::is_same_v<From, float>) i = ToHalves(source, count, target);
  if constexpr (kIsHalf<From> && std::is_same_v<To, float>) i = FromHalves(source, count, target);
  for (; i < count; ++i) target[i] = ConvertNumber<To>(source[i]);
}

template <typename Wide>
void StoreBlock(const Wide* wide, int64_t count, DType dtype, uint8_t* target) {
  VisitNumber(dtype, [&](auto to) HWY_ATTR {
    using To = typename decltype(to)::type;
    Loop(wide, count, reinterpret_cast<To*>(target));
  });
}

template <typename Wide, typename From>
void ConvertThrough(const From* source, int64_t count, DType dtype, uint8_t* target) {
  if constexpr (std::is_same_v<Wide, From>) {
    StoreBlock(source, count, dtype, target);
  } else {
    Wide wide[kBlock];
    for (int64_t done = 0; done < count; done += kBlock) {
      const int64_t size = std::min(kBlock, count - done);
      Loop(source + done, size, wide);
      StoreBlock(wide, size, dtype, target + done * static_cast<int64_t>(ItemSize(dtype)));
    }
  }
}

template <typename From>
void ConvertFrom(const From* source, int64_t count, DType dtype, uint8_t* target) {
  if constexpr (kFitsFloat<From>) {
    if (dtype == DType::kFloat32) return Loop(source, count, reinterpret_cast<float*>(target));
    if (ThroughFloat<From>(dtype)) return ConvertThrough<float>(source, count, dtype, target);
  }
  ConvertThrough<WideOf<From>>(source, count, dtype, target);
}

}  // namespace

void Convert(const uint8_t* source, DType from, int64_t count, DType to, uint8_t* target) {
  VisitNumber(from, [&](auto type) HWY_ATTR {
    using From = typename decltype(type)::type;
    ConvertFrom(reinterpret_cast<const From*>(source), count, to, target);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(Convert);

void ConvertValues(const uint8_t* source, DType from, int64_t count, DType to, uint8_t* target) {
  if (from == to) {
    std::memcpy(target, source, static_cast<size_t>(count) * ItemSize(to));
  } else {
    HWY_DYNAMIC_DISPATCH(Convert)(source, from, count, to, target);
  }
}

}  // namespace headrace
#endif  // HWY_ONCE
