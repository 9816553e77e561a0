// `SumOfProducts` multiplies neighbours by two factors and adds the products, on each CPU target.
// Threads: pure functions.
#if defined(HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_SUM_OF_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_SUM_OF_PRODUCTS_INL_H_
#undef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_SUM_OF_PRODUCTS_INL_H_
#else
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_SUM_OF_PRODUCTS_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg {
namespace HWY_NAMESPACE {
namespace {

struct Factors {
  int16_t first;
  int16_t second;
};

#if HWY_TARGET != HWY_SCALAR

// The first number of each pair times the first factor plus the second times the second.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::Repartition<int32_t, D>> SumOfProducts(
    D d, hwy::HWY_NAMESPACE::Vec<D> pairs, Factors factors) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Repartition<int32_t, D> wide;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  // One instruction here, which keeps the order.
  const auto both =
      static_cast<uint32_t>(static_cast<uint16_t>(factors.second)) << 16 | static_cast<uint16_t>(factors.first);
  auto rest = hn::Zero(wide);
  return hn::ReorderWidenMulAccumulate(wide, pairs, hn::BitCast(d, hn::Set(wide, static_cast<int32_t>(both))),
                                       hn::Zero(wide), rest);
#else
  (void)d;
  const auto both = hn::BitCast(wide, pairs);
  const auto first = hn::ShiftRight<16>(hn::ShiftLeft<16>(both));
  const auto second = hn::ShiftRight<16>(both);
  return hn::Add(hn::Mul(first, hn::Set(wide, factors.first)), hn::Mul(second, hn::Set(wide, factors.second)));
#endif
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_AFTER_NAMESPACE();

#endif
