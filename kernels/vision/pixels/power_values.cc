#include "kernels/vision/pixels/power_values.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/power_values.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vision/pixels/logarithm_inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

using Narrow = hn::Rebind<float, Doubles>;

// Zero has no logarithm, and is one to the power of zero.
HWY_INLINE V Raised(V value, double exponent) {
  // Less is zero in float32.
  const V scaled = hn::Max(hn::Mul(Log(value), hn::Set(kDoubles, exponent)), hn::Set(kDoubles, -200));
  const auto is_zero = hn::Eq(value, hn::Zero(kDoubles));
  return hn::IfThenElse(is_zero, hn::Set(kDoubles, exponent == 0 ? 1 : 0), Exp(scaled));
}

HWY_INLINE void StoreRaised(const float* source, double exponent, float gain, float* target) {
  const Narrow floats;
  const V value = hn::PromoteTo(kDoubles, hn::LoadU(floats, source));
  const auto raised = hn::DemoteTo(floats, Raised(value, exponent));
  hn::StoreU(hn::Min(hn::Mul(raised, hn::Set(floats, gain)), hn::Set(floats, 1.0f)), floats, target);
}

}  // namespace

void Raise(const float* HWY_RESTRICT source, int64_t count, double exponent, float gain, float* HWY_RESTRICT target) {
  const auto step = static_cast<int64_t>(hn::Lanes(kDoubles));
  int64_t i = 0;
  for (; i + step <= count; i += step) StoreRaised(source + i, exponent, gain, target + i);
  if (i == count) return;
  HWY_ALIGN float rest[hn::MaxLanes(Doubles())] = {};
  std::copy(source + i, source + count, rest);
  StoreRaised(rest, exponent, gain, rest);
  std::copy_n(rest, count - i, target + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(Raise);

void RaiseValues(const float* source, int64_t count, double exponent, double gain, float* target) {
  HWY_DYNAMIC_DISPATCH(Raise)(source, count, exponent, static_cast<float>(gain), target);
}

}  // namespace headrace
#endif  // HWY_ONCE
