#include "kernels/vision/codecs/jpeg/own/sample_rows.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/codecs/jpeg/own/sample_rows.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vision/codecs/jpeg/own/sum_of_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// As libjpeg's tables have them, with 16 bits after the point: red takes 1.402 of cr, green -0.34414 of cb and
// -0.71414 of cr, blue 1.772 of cb. Those above a half are stored without their whole part.
constexpr int16_t kRedOfCr = 91881 - 65536;
constexpr int16_t kBlueOfCb = 116130 - 2 * 65536;
constexpr Factors kGreen{-22554, 65536 - 46802};
constexpr int kMiddle = 128;

#if HWY_TARGET == HWY_SCALAR

void WidenEach(const int16_t* sums, int64_t count, int shift, uint8_t* to) {
  const int before = 1 << (shift - 1) >> (shift == 2 ? 1 : 0);
  const int after = shift == 2 ? 2 : 7;
  for (int64_t i = 0; i < count; ++i) {
    to[2 * i] = static_cast<uint8_t>((3 * sums[i] + sums[i - 1] + before) >> shift);
    to[2 * i + 1] = static_cast<uint8_t>((3 * sums[i] + sums[i + 1] + after) >> shift);
  }
}

uint8_t Clamped(int value) { return static_cast<uint8_t>(std::clamp(value, 0, 255)); }

#else

// Sums of 16 bits, `kShift` bits too high, with their neighbours.
template <int kShift>
void WidenSums(const int16_t* sums, int64_t count, int16_t before, int16_t after, uint8_t* to) {
  const hn::ScalableTag<int16_t> d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  const auto even_half = hn::Set(d, before);
  const auto odd_half = hn::Set(d, after);
  for (int64_t i = 0; i < count; i += step) {
    const auto here = hn::LoadU(d, sums + i);
    const auto thrice = hn::Add(here, hn::Add(here, here));
    const auto even = hn::ShiftRight<kShift>(hn::Add(hn::Add(thrice, hn::LoadU(d, sums + i - 1)), even_half));
    const auto odd = hn::ShiftRight<kShift>(hn::Add(hn::Add(thrice, hn::LoadU(d, sums + i + 1)), odd_half));
    const hn::Repartition<uint8_t, decltype(d)> bytes;
    hn::StoreU(hn::BitCast(bytes, hn::Or(even, hn::ShiftLeft<8>(odd))), bytes, to + 2 * i);
  }
}

// (kShare * value) >> 16 rounded to the nearest, of numbers from -128 to 127.
template <class D>
HWY_INLINE hn::Vec<D> Share(D d, hn::Vec<D> value, int16_t share) {
  const auto doubled = hn::MulHigh(hn::Add(value, value), hn::Set(d, share));
  return hn::ShiftRight<1>(hn::Add(doubled, hn::Set(d, 1)));
}

template <class D>
HWY_INLINE hn::Vec<D> GreenShare(D d, hn::Vec<D> cb, hn::Vec<D> cr) {
  const hn::Repartition<int32_t, D> wide;
  const auto half = hn::Set(wide, 1 << 15);
  const auto lower = hn::Add(SumOfProducts(d, hn::InterleaveLower(d, cb, cr), kGreen), half);
  const auto upper = hn::Add(SumOfProducts(d, hn::InterleaveUpper(d, cb, cr), kGreen), half);
  return hn::ReorderDemote2To(d, hn::ShiftRight<16>(lower), hn::ShiftRight<16>(upper));
}

// Pixels of 16 bits.
template <class D>
struct Rgb {
  hn::Vec<D> red;
  hn::Vec<D> green;
  hn::Vec<D> blue;
};

template <class D, class V>
HWY_INLINE Rgb<D> ToRgb(D d, V y_bytes, V cb_bytes, V cr_bytes) {
  const auto middle = hn::Set(d, kMiddle);
  const auto y = hn::PromoteTo(d, y_bytes);
  const auto cb = hn::Sub(hn::PromoteTo(d, cb_bytes), middle);
  const auto cr = hn::Sub(hn::PromoteTo(d, cr_bytes), middle);
  Rgb<D> rgb;
  rgb.red = hn::Add(hn::Add(y, cr), Share(d, cr, kRedOfCr));
  rgb.green = hn::Add(hn::Sub(y, cr), GreenShare(d, cb, cr));
  rgb.blue = hn::Add(hn::Add(y, hn::Add(cb, cb)), Share(d, cb, kBlueOfCb));
  return rgb;
}

template <class D8, class D>
HWY_INLINE hn::Vec<D8> Bytes(D8 d8, D /*d*/, hn::Vec<D> lower, hn::Vec<D> upper) {
  const hn::Half<D8> half;
  return hn::Combine(d8, hn::DemoteTo(half, upper), hn::DemoteTo(half, lower));
}

#endif

}  // namespace

void Widen(const uint8_t* near, const uint8_t* far, int64_t count, int16_t* sums, uint8_t* to) {
  // With the neighbours.
  const int64_t all = count + 2;
#if HWY_TARGET == HWY_SCALAR
  for (int64_t i = 0; i < all; ++i) {
    sums[i] = static_cast<int16_t>(far == nullptr ? near[i - 1] : 3 * near[i - 1] + far[i - 1]);
  }
  WidenEach(sums + 1, count, far == nullptr ? 2 : 4, to);
#else
  const hn::ScalableTag<int16_t> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < all; i += step) {
    auto sum = hn::PromoteTo(d, hn::LoadU(bytes, near + i - 1));
    if (far != nullptr) {
      sum = hn::Add(hn::Add(sum, hn::Add(sum, sum)), hn::PromoteTo(d, hn::LoadU(bytes, far + i - 1)));
    }
    hn::StoreU(sum, d, sums + i);
  }
  if (far == nullptr) {
    WidenSums<2>(sums + 1, count, 1, 2, to);
  } else {
    WidenSums<4>(sums + 1, count, 8, 7, to);
  }
#endif
}

void Blend(const uint8_t* near, const uint8_t* far, int64_t count, int bias, uint8_t* to) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint8_t>((3 * near[i] + far[i] + bias) >> 2);
#else
  const hn::ScalableTag<int16_t> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; i += step) {
    const auto here = hn::PromoteTo(d, hn::LoadU(bytes, near + i));
    const auto there = hn::PromoteTo(d, hn::LoadU(bytes, far + i));
    const auto sum =
        hn::Add(hn::Add(here, hn::Add(here, here)), hn::Add(there, hn::Set(d, static_cast<int16_t>(bias))));
    hn::StoreU(hn::DemoteTo(bytes, hn::ShiftRight<2>(sum)), bytes, to + i);
  }
#endif
}

void ColorRow(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int64_t count, uint8_t* rgb) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t i = 0; i < count; ++i, rgb += 3) {
    const int blue = cb[i] - kMiddle;
    const int red = cr[i] - kMiddle;
    rgb[0] = Clamped(y[i] + red + ((kRedOfCr * red + (1 << 15)) >> 16));
    rgb[1] = Clamped(y[i] - red + ((kGreen.first * blue + kGreen.second * red + (1 << 15)) >> 16));
    rgb[2] = Clamped(y[i] + 2 * blue + ((kBlueOfCb * blue + (1 << 15)) >> 16));
  }
#else
  const hn::ScalableTag<uint8_t> d8;
  const hn::Half<decltype(d8)> half;
  const hn::ScalableTag<int16_t> d;
  const auto step = static_cast<int64_t>(hn::Lanes(d8));
  for (int64_t i = 0; i < count; i += step) {
    const auto ys = hn::LoadU(d8, y + i);
    const auto cbs = hn::LoadU(d8, cb + i);
    const auto crs = hn::LoadU(d8, cr + i);
    const auto lower = ToRgb(d, hn::LowerHalf(half, ys), hn::LowerHalf(half, cbs), hn::LowerHalf(half, crs));
    const auto upper = ToRgb(d, hn::UpperHalf(half, ys), hn::UpperHalf(half, cbs), hn::UpperHalf(half, crs));
    const auto red = Bytes(d8, d, lower.red, upper.red);
    const auto green = Bytes(d8, d, lower.green, upper.green);
    const auto blue = Bytes(d8, d, lower.blue, upper.blue);
    if (count - i >= step) {
      hn::StoreInterleaved3(red, green, blue, d8, rgb + 3 * i);
      continue;
    }
    HWY_ALIGN uint8_t last[3 * hn::MaxLanes(d8)];
    hn::StoreInterleaved3(red, green, blue, d8, last);
    std::memcpy(rgb + 3 * i, last, static_cast<size_t>(3 * (count - i)));
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::jpeg {

HWY_EXPORT(Widen);
HWY_EXPORT(Blend);
HWY_EXPORT(ColorRow);

void WidenRow(const uint8_t* near, const uint8_t* far, int64_t count, int16_t* sums, uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(Widen)(near, far, count, sums, to);
}

void BlendRows(const uint8_t* near, const uint8_t* far, bool far_is_above, int64_t count, uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(Blend)(near, far, count, far_is_above ? 1 : 2, to);
}

void YccToRgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int64_t count, uint8_t* rgb) {
  HWY_DYNAMIC_DISPATCH(ColorRow)(y, cb, cr, count, rgb);
}

}  // namespace headrace::jpeg
#endif  // HWY_ONCE
