#include "kernels/vision/pixels/turn_hue.h"

#include <algorithm>

#include "kernels/vision/pixels/join_channels.h"
#include "kernels/vision/pixels/split_channels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/turn_hue.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Integers = hn::ScalableTag<int32_t>;
using Floats = hn::Rebind<float, Integers>;
using Bytes = hn::Rebind<uint8_t, Integers>;
using Float = hn::Vec<Floats>;
using Integer = hn::Vec<Integers>;

HWY_INLINE Integer Load(const uint8_t* bytes) { return hn::PromoteTo(Integers(), hn::LoadU(Bytes(), bytes)); }
HWY_INLINE void Store(Integer values, uint8_t* bytes) { hn::StoreU(hn::DemoteTo(Bytes(), values), Bytes(), bytes); }
HWY_INLINE Integer Whole(int32_t value) { return hn::Set(Integers(), value); }
HWY_INLINE Float Real(float value) { return hn::Set(Floats(), value); }
HWY_INLINE Float Real(Integer values) { return hn::ConvertTo(Floats(), values); }
HWY_INLINE Integer Truncated(Float values) { return hn::ConvertTo(Integers(), values); }

struct Hsv {
  Integer hue;
  Integer saturation;
  Integer value;
};

// Pillow mixes float and double; floats give the same bytes for every colour. What Pillow calls the shares of the least
// and the greatest channel are 1 and 0, so that one quotient is left. Grey has saturation 0 and any hue.
HWY_INLINE Hsv HsvOf(Integer red, Integer green, Integer blue) {
  const Integer lower = hn::Min(red, green);
  const Integer higher = hn::Max(red, green);
  const Integer most = hn::Max(higher, blue);
  const Integer middle = hn::Max(lower, hn::Min(higher, blue));
  const Integer range = hn::Sub(most, hn::Min(lower, blue));
  const auto is_red = hn::Eq(red, most);
  const auto is_green = hn::Eq(green, most);
  const auto choose = [&](Integer where_red, Integer where_green, Integer where_blue) HWY_ATTR {
    return hn::IfThenElse(is_red, where_red, hn::IfThenElse(is_green, where_green, where_blue));
  };
  // Hues rise towards the next channel's, and fall towards that of the one before.
  const auto falls = hn::Gt(choose(blue, red, green), choose(green, blue, red));
  const Integer distance = hn::Sub(most, middle);
  const Float share = hn::Div(Real(hn::IfThenElse(falls, distance, hn::Neg(distance))), Real(hn::Max(range, Whole(1))));
  const Integer offset = hn::Sub(choose(Whole(1), Whole(3), Whole(5)), hn::IfThenElseZero(falls, Whole(2)));
  const Float turn = hn::Div(hn::Add(Real(offset), share), Real(6.0f));
  const Float hue = hn::Add(turn, hn::IfThenElseZero(hn::Lt(turn, Real(0.0f)), Real(1.0f)));
  const Float saturation = hn::Div(Real(range), Real(hn::Max(most, Whole(1))));
  return {Truncated(hn::Mul(hue, Real(255.0f))), Truncated(hn::Mul(saturation, Real(255.0f))), most};
}

// A channel of a colour is the value less a share of it: the saturation's 255th times the loss's. Rounds as Pillow for
// every colour: up to the multiplication by the reciprocal all numbers are whole, and that gives each quotient's floor.
HWY_INLINE Integer Lessened(Float value, Float saturation, Float loss) {
  const Float bounded = hn::Min(hn::Max(loss, Real(0.0f)), Real(255.0f));
  constexpr float kWhole = 255 * 255;
  const Float lost = hn::MulAdd(hn::Mul(saturation, bounded), value, Real((kWhole - 1) / 2));
  return hn::Sub(Truncated(value), Truncated(hn::Mul(lost, Real(1 / kWhole))));
}

// Over the circle of hues, here 1530 long, each channel's loss falls and rises by straight lines between 0 and 255.
HWY_INLINE void WriteRgb(const Hsv& hsv, uint8_t* red, uint8_t* green, uint8_t* blue) {
  const Float at = hn::Mul(Real(hsv.hue), Real(6.0f));
  const Float saturation = Real(hsv.saturation);
  const Float value = Real(hsv.value);
  const auto from = [&](float begin) HWY_ATTR { return hn::Sub(at, Real(begin)); };
  const auto to = [&](float end) HWY_ATTR { return hn::Sub(Real(end), at); };
  Store(Lessened(value, saturation, hn::Min(from(255), to(1275))), red);
  Store(Lessened(value, saturation, hn::Max(to(255), from(765))), green);
  Store(Lessened(value, saturation, hn::Max(to(765), from(1275))), blue);
}

}  // namespace

// Runs of a whole number of vectors.
void TurnPlanes(uint8_t* red, uint8_t* green, uint8_t* blue, int64_t pixels, int32_t turn) {
  const Integer turns = Whole(turn);
  const auto step = static_cast<int64_t>(hn::Lanes(Integers()));
  for (int64_t i = 0; i < pixels; i += step) {
    Hsv hsv = HsvOf(Load(red + i), Load(green + i), Load(blue + i));
    hsv.hue = hn::And(hn::Add(hsv.hue, turns), Whole(255));
    WriteRgb(hsv, red + i, green + i, blue + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(TurnPlanes);

void TurnHue(const uint8_t* rgb, int64_t pixels, uint8_t turn, uint8_t* target) {
  constexpr int64_t kMost = 1024;  // a multiple of every vector's pixels
  uint8_t planes[3][kMost] = {};
  for (int64_t first = 0; first < pixels; first += kMost) {
    const int64_t count = std::min(pixels - first, kMost);
    SplitChannels(rgb + 3 * first, count, 3, 1, kMost, planes[0]);
    HWY_DYNAMIC_DISPATCH(TurnPlanes)(planes[0], planes[1], planes[2], count, turn);
    JoinThreeChannels(planes[0], planes[1], planes[2], count, target + 3 * first);
  }
}

}  // namespace headrace
#endif  // HWY_ONCE
