#include "kernels/vision/pixels/noise_values.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/noise_values.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of one number or of as many as fit.
template <class D>
using Floats = hn::Rebind<float, D>;
template <class D>
using Integers = hn::Rebind<int32_t, D>;

// As std::clamp, for what is no number, too.
template <class D>
HWY_INLINE hn::Vec<D> Limited(D d, hn::Vec<D> values, float least, float most) {
  const auto low = hn::Set(d, least);
  const auto high = hn::Set(d, most);
  return hn::IfThenElse(hn::Lt(values, low), low, hn::IfThenElse(hn::Lt(high, values), high, values));
}

template <class D>
HWY_INLINE hn::Vec<Floats<D>> NoiseOf(D, const Noise& noise, const float* normal) {
  const Floats<D> floats;
  const auto scaled = hn::Mul(hn::LoadU(floats, normal), hn::Set(floats, noise.sigma));
  return hn::Add(hn::Set(floats, noise.mean), scaled);
}

// Whole numbers.
template <class D>
HWY_INLINE void AddTo(D d, const Noise& noise, const float* normal, hn::TFromD<D>* values) {
  constexpr int32_t kHighest = std::numeric_limits<hn::TFromD<D>>::max();
  constexpr auto kMost = static_cast<float>(kHighest);
  const Integers<D> integers;
  const auto limited = Limited(Floats<D>(), NoiseOf(d, noise, normal), -kMost, kMost);
  const auto sum = hn::Add(hn::PromoteTo(integers, hn::LoadU(d, values)), hn::ConvertTo(integers, limited));
  const auto kept = hn::Min(hn::Max(sum, hn::Zero(integers)), hn::Set(integers, kHighest));
  hn::StoreU(hn::DemoteTo(d, kept), d, values);
}

template <class D>
HWY_INLINE void AddToFloats(D d, const Noise& noise, const float* normal, float* values) {
  const auto sum = hn::Add(hn::LoadU(d, values), NoiseOf(d, noise, normal));
  hn::StoreU(noise.clip ? Limited(d, sum, 0, 1) : sum, d, values);
}

// Calls `add` for all values, with the tag of a vector or of one value, and where they begin.
template <typename T, typename Add>
HWY_INLINE void ForVectors(int64_t count, Add add) {
  const hn::Rebind<T, hn::ScalableTag<float>> many;
  const hn::CappedTag<T, 1> one;
  const auto step = static_cast<int64_t>(hn::Lanes(many));
  int64_t i = 0;
  for (; i + step <= count; i += step) add(many, i);
  for (; i < count; ++i) add(one, i);
}

}  // namespace

void AddToBytes(const Noise& noise, const float* HWY_RESTRICT normal, int64_t count, uint8_t* HWY_RESTRICT values) {
  ForVectors<uint8_t>(count, [&](auto d, int64_t i) HWY_ATTR { AddTo(d, noise, normal + i, values + i); });
}
void AddToWords(const Noise& noise, const float* HWY_RESTRICT normal, int64_t count, uint16_t* HWY_RESTRICT values) {
  ForVectors<uint16_t>(count, [&](auto d, int64_t i) HWY_ATTR { AddTo(d, noise, normal + i, values + i); });
}
void AddToReals(const Noise& noise, const float* HWY_RESTRICT normal, int64_t count, float* HWY_RESTRICT values) {
  ForVectors<float>(count, [&](auto d, int64_t i) HWY_ATTR { AddToFloats(d, noise, normal + i, values + i); });
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(AddToBytes);
HWY_EXPORT(AddToWords);
HWY_EXPORT(AddToReals);

void AddNoise(const Noise& noise, const float* normal, int64_t count, uint8_t* values) {
  HWY_DYNAMIC_DISPATCH(AddToBytes)(noise, normal, count, values);
}
void AddNoise(const Noise& noise, const float* normal, int64_t count, uint16_t* values) {
  HWY_DYNAMIC_DISPATCH(AddToWords)(noise, normal, count, values);
}
void AddNoise(const Noise& noise, const float* normal, int64_t count, float* values) {
  HWY_DYNAMIC_DISPATCH(AddToReals)(noise, normal, count, values);
}

}  // namespace headrace
#endif  // HWY_ONCE
