#include "kernels/vision/pixels/unit_colors.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/unit_colors.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Float = hn::Vec<Floats>;

struct Pixels {
  Float red;
  Float green;
  Float blue;
};

HWY_INLINE int64_t Step() { return static_cast<int64_t>(hn::Lanes(Floats())); }
HWY_INLINE Float Real(float value) { return hn::Set(Floats(), value); }
HWY_INLINE Float Limited(Float value) { return hn::Min(hn::Max(value, Real(0)), Real(1)); }

HWY_INLINE Pixels Load(const float* rgb) {
  Float red, green, blue;
  hn::LoadInterleaved3(Floats(), rgb, red, green, blue);
  return {red, green, blue};
}
HWY_INLINE void Store(const Pixels& pixels, float* rgb) {
  hn::StoreInterleaved3(pixels.red, pixels.green, pixels.blue, Floats(), rgb);
}

HWY_INLINE Float LumaOf(const Pixels& pixels) {
  const Float warm = hn::Add(hn::Mul(pixels.red, Real(0.2989f)), hn::Mul(pixels.green, Real(0.587f)));
  return hn::Add(warm, hn::Mul(pixels.blue, Real(0.114f)));
}

// `values` of each pixel go to the target. Pixels that do not fill a vector are processed in one with black.
template <int64_t kValues, typename Run>
HWY_INLINE void ForVectors(const float* rgb, int64_t pixels, float* target, const Run& run) {
  int64_t i = 0;
  for (; i + Step() <= pixels; i += Step()) run(rgb + 3 * i, target + kValues * i);
  if (i == pixels) return;
  HWY_ALIGN float rest[3 * hn::MaxLanes(Floats())] = {};
  std::copy(rgb + 3 * i, rgb + 3 * pixels, rest);
  HWY_ALIGN float made[kValues * hn::MaxLanes(Floats())];
  run(rest, made);
  std::copy_n(made, kValues * (pixels - i), target + kValues * i);
}

// In sixths of the circle, from -1. Ties of two greatest channels do not matter; grey has any hue.
HWY_INLINE Float HueOf(const Pixels& pixels, Float most, Float range) {
  const auto is_red = hn::Eq(pixels.red, most);
  const auto is_green = hn::Eq(pixels.green, most);
  const auto choose = [&](Float where_red, Float where_green, Float where_blue) HWY_ATTR {
    return hn::IfThenElse(is_red, where_red, hn::IfThenElse(is_green, where_green, where_blue));
  };
  const Float difference =
      hn::Sub(choose(pixels.green, pixels.blue, pixels.red), choose(pixels.blue, pixels.red, pixels.green));
  const Float divisor = hn::IfThenElse(hn::Gt(range, Real(0)), range, Real(1));
  return hn::Add(choose(Real(0), Real(2), Real(4)), hn::Div(difference, divisor));
}

// Over the circle, a channel's loss rises and falls by straight lines between 0 and 1; `from` is where it begins.
HWY_INLINE Float Lessened(Float value, Float range, Float hue, float from) {
  const Float at = hn::Add(hue, Real(from));
  const Float turns = hn::Floor(hn::Mul(at, Real(1.0f / 6)));
  const Float place = hn::Sub(at, hn::Mul(turns, Real(6)));
  const Float loss = Limited(hn::Min(place, hn::Sub(Real(4), place)));
  return Limited(hn::Sub(value, hn::Mul(range, loss)));
}

}  // namespace

void LumaOfUnits(const float* rgb, int64_t pixels, float* luma) {
  ForVectors<1>(rgb, pixels, luma,
                [](const float* from, float* to) HWY_ATTR { hn::StoreU(LumaOf(Load(from)), Floats(), to); });
}

void UnitsWithLuma(const float* rgb, int64_t pixels, float factor, float rest, float* target) {
  ForVectors<3>(rgb, pixels, target, [=](const float* from, float* to) HWY_ATTR {
    const Pixels colors = Load(from);
    const Float share = hn::Mul(LumaOf(colors), Real(rest));
    const auto blended = [&](Float value) HWY_ATTR { return Limited(hn::Add(hn::Mul(value, Real(factor)), share)); };
    Store({blended(colors.red), blended(colors.green), blended(colors.blue)}, to);
  });
}

void TurnedUnits(const float* rgb, int64_t pixels, float sixths, float* target) {
  ForVectors<3>(rgb, pixels, target, [=](const float* from, float* to) HWY_ATTR {
    const Pixels colors = Load(from);
    const Float most = hn::Max(hn::Max(colors.red, colors.green), colors.blue);
    const Float range = hn::Sub(most, hn::Min(hn::Min(colors.red, colors.green), colors.blue));
    const Float hue = hn::Add(HueOf(colors, most, range), Real(sixths));
    Store({Lessened(most, range, hue, 5), Lessened(most, range, hue, 3), Lessened(most, range, hue, 1)}, to);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(LumaOfUnits);
HWY_EXPORT(UnitsWithLuma);
HWY_EXPORT(TurnedUnits);

void FillLuma(const float* rgb, int64_t pixels, float* luma) { HWY_DYNAMIC_DISPATCH(LumaOfUnits)(rgb, pixels, luma); }

void BlendWithLuma(const float* rgb, int64_t pixels, double factor, float* target) {
  HWY_DYNAMIC_DISPATCH(UnitsWithLuma)
  (rgb, pixels, static_cast<float>(factor), static_cast<float>(1 - factor), target);
}

void TurnHue(const float* rgb, int64_t pixels, double turn, float* target) {
  HWY_DYNAMIC_DISPATCH(TurnedUnits)(rgb, pixels, static_cast<float>(6 * turn), target);
}

}  // namespace headrace
#endif  // HWY_ONCE
