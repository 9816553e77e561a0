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

// A plain loop for every pair of types: compilers vectorize it well.
template <typename To, typename From>
HWY_INLINE void Loop(const From* HWY_RESTRICT source, int64_t count, To* HWY_RESTRICT target) {
  for (int64_t i = 0; i < count; ++i) target[i] = ConvertNumber<To>(source[i]);
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
