#include "kernels/vision/pixels/normalize_values.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/normalize_values.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;

HWY_INLINE hn::Vec<Floats> LoadFloats(const uint8_t* source) {
  const hn::Rebind<int32_t, Floats> integers;
  const hn::Rebind<uint8_t, Floats> bytes;
  return hn::ConvertTo(Floats(), hn::PromoteTo(integers, hn::LoadU(bytes, source)));
}
HWY_INLINE hn::Vec<Floats> LoadFloats(const float* source) { return hn::LoadU(Floats(), source); }

// Means and deviations repeat every `length` values, which is a multiple of the vector's.
template <typename T>
HWY_INLINE void ByPattern(const T* HWY_RESTRICT source, int64_t count, const float* HWY_RESTRICT mean,
                          const float* HWY_RESTRICT deviation, int64_t length, float* HWY_RESTRICT target) {
  const Floats floats;
  const auto step = static_cast<int64_t>(hn::Lanes(floats));
  int64_t x = 0;
  for (; x + length <= count; x += length) {
    for (int64_t i = 0; i < length; i += step) {
      const auto centred = hn::Sub(LoadFloats(source + x + i), hn::LoadU(floats, mean + i));
      hn::StoreU(hn::Div(centred, hn::LoadU(floats, deviation + i)), floats, target + x + i);
    }
  }
  for (int64_t i = 0; x + i < count; ++i) {
    target[x + i] = (static_cast<float>(source[x + i]) - mean[i]) / deviation[i];
  }
}

template <typename T>
HWY_INLINE void ByNumber(const T* HWY_RESTRICT source, int64_t count, float mean, float deviation,
                         float* HWY_RESTRICT target) {
  const Floats floats;
  const auto step = static_cast<int64_t>(hn::Lanes(floats));
  const auto means = hn::Set(floats, mean);
  const auto deviations = hn::Set(floats, deviation);
  int64_t x = 0;
  for (; x + step <= count; x += step) {
    hn::StoreU(hn::Div(hn::Sub(LoadFloats(source + x), means), deviations), floats, target + x);
  }
  for (; x < count; ++x) target[x] = (static_cast<float>(source[x]) - mean) / deviation;
}

}  // namespace

void BytesByPattern(const uint8_t* source, int64_t count, const float* mean, const float* deviation, int64_t length,
                    float* target) {
  ByPattern(source, count, mean, deviation, length, target);
}
void FloatsByPattern(const float* source, int64_t count, const float* mean, const float* deviation, int64_t length,
                     float* target) {
  ByPattern(source, count, mean, deviation, length, target);
}
void BytesByNumber(const uint8_t* source, int64_t count, float mean, float deviation, float* target) {
  ByNumber(source, count, mean, deviation, target);
}
void FloatsByNumber(const float* source, int64_t count, float mean, float deviation, float* target) {
  ByNumber(source, count, mean, deviation, target);
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(BytesByPattern);
HWY_EXPORT(FloatsByPattern);
HWY_EXPORT(BytesByNumber);
HWY_EXPORT(FloatsByNumber);

NormalizePattern::NormalizePattern(const std::vector<float>& mean, const std::vector<float>& deviation,
                                   int64_t channels) {
  const int64_t length = kUsualLength % channels == 0 ? kUsualLength : channels * 16;
  for (int64_t i = 0; i < length; ++i) {
    this->mean.push_back(mean[mean.size() == 1 ? 0 : i % channels]);
    this->deviation.push_back(deviation[deviation.size() == 1 ? 0 : i % channels]);
  }
}

void NormalizeValues(const uint8_t* source, DType dtype, int64_t count, const NormalizePattern& pattern,
                     float* target) {
  const auto length = static_cast<int64_t>(pattern.mean.size());
  if (dtype == DType::kUInt8) {
    HWY_DYNAMIC_DISPATCH(BytesByPattern)
    (source, count, pattern.mean.data(), pattern.deviation.data(), length, target);
  } else {
    HWY_DYNAMIC_DISPATCH(FloatsByPattern)
    (reinterpret_cast<const float*>(source), count, pattern.mean.data(), pattern.deviation.data(), length, target);
  }
}

void NormalizeValues(const uint8_t* source, DType dtype, int64_t count, float mean, float deviation, float* target) {
  if (dtype == DType::kUInt8) {
    HWY_DYNAMIC_DISPATCH(BytesByNumber)(source, count, mean, deviation, target);
  } else {
    HWY_DYNAMIC_DISPATCH(FloatsByNumber)(reinterpret_cast<const float*>(source), count, mean, deviation, target);
  }
}

}  // namespace headrace
#endif  // HWY_ONCE
