#include "kernels/vision/turn_hue.h"

#include <algorithm>

#include "kernels/vision/join_channels.h"
#include "kernels/vision/split_channels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/turn_hue.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// As many pixels at once as a vector has doubles.
using Doubles = hn::ScalableTag<double>;
using Floats = hn::Rebind<float, Doubles>;
using Integers = hn::Rebind<int32_t, Doubles>;
using Bytes = hn::Rebind<uint8_t, Doubles>;
using Double = hn::Vec<Doubles>;
using Float = hn::Vec<Floats>;
using Integer = hn::Vec<Integers>;

HWY_INLINE Integer Load(const uint8_t* bytes) { return hn::PromoteTo(Integers(), hn::LoadU(Bytes(), bytes)); }
HWY_INLINE void Store(Integer values, uint8_t* bytes) { hn::StoreU(hn::DemoteTo(Bytes(), values), Bytes(), bytes); }
HWY_INLINE Double Widened(Float values) { return hn::PromoteTo(Doubles(), values); }
HWY_INLINE Double Widened(Integer values) { return hn::PromoteTo(Doubles(), values); }
HWY_INLINE Float Narrowed(Double values) { return hn::DemoteTo(Floats(), values); }
HWY_INLINE Integer Truncated(Double values) { return hn::DemoteTo(Integers(), values); }

struct Hsv {
  Integer hue;
  Integer saturation;
  Integer value;
};

// Mixes float and double as Pillow does: the bits depend on it. Where Pillow divides by 6 and by 255, products with
// their reciprocals give the same bytes for every colour, in half the time. Grey has hue and saturation 0.
HWY_INLINE Hsv HsvOf(Integer red, Integer green, Integer blue) {
  const Floats floats;
  const Integers integers;
  const Integer one = hn::Set(integers, 1);
  const Integer most = hn::Max(hn::Max(red, green), blue);
  const Integer range = hn::Sub(most, hn::Min(hn::Min(red, green), blue));
  const auto is_red = hn::Eq(red, most);
  const auto is_green = hn::AndNot(is_red, hn::Eq(green, most));
  const auto choose = [&](Integer where_red, Integer where_green, Integer where_blue) HWY_ATTR {
    return hn::IfThenElse(is_red, where_red, hn::IfThenElse(is_green, where_green, where_blue));
  };
  const Float divisor = hn::ConvertTo(floats, hn::Max(range, one));
  const auto share = [&](Integer channel)
                         HWY_ATTR { return Widened(hn::Div(hn::ConvertTo(floats, hn::Sub(most, channel)), divisor)); };
  const Double offset = Widened(choose(hn::Zero(integers), hn::Set(integers, 2), hn::Set(integers, 4)));
  const Double sixths =
      Widened(Narrowed(hn::Sub(hn::Add(offset, share(choose(blue, red, green))), share(choose(green, blue, red)))));
  // Between 5/6 and 11/6: the remainder by 1 takes one subtraction.
  const Double whole = hn::Set(Doubles(), 1.0);
  const Double turned = hn::Add(hn::Mul(sixths, hn::Set(Doubles(), 1.0 / 6.0)), whole);
  const Double hue = hn::IfThenElse(hn::Ge(turned, whole), hn::Sub(turned, whole), turned);
  const Float saturation = hn::Div(hn::ConvertTo(floats, range), hn::ConvertTo(floats, hn::Max(most, one)));
  const Double highest = hn::Set(Doubles(), 255.0);
  return {Truncated(hn::Mul(Widened(Narrowed(hue)), highest)), Truncated(hn::Mul(Widened(saturation), highest)), most};
}

// Half up, for 0 … 255.
HWY_INLINE Integer Rounded(Double values) {
  const Integer whole = Truncated(values);
  const auto up = hn::Ge(hn::Sub(values, Widened(whole)), hn::Set(Doubles(), 0.5));
  return Truncated(hn::Add(Widened(whole), hn::IfThenElseZero(up, hn::Set(Doubles(), 1.0))));
}

HWY_INLINE void WriteRgb(const Hsv& hsv, uint8_t* red, uint8_t* green, uint8_t* blue) {
  const Integers integers;
  const Double one = hn::Set(Doubles(), 1.0);
  const Double value = Widened(hsv.value);
  const Double sixths = hn::Mul(Widened(hsv.hue), hn::Set(Doubles(), 6.0 / 255.0));
  const Integer sector = Truncated(sixths);
  const Float rest = Narrowed(hn::Sub(sixths, Widened(sector)));
  const Float saturation = Narrowed(hn::Mul(Widened(hsv.saturation), hn::Set(Doubles(), 1.0 / 255.0)));
  const Integer p = Rounded(hn::Mul(value, hn::Sub(one, Widened(saturation))));
  const Integer q = Rounded(hn::Mul(value, hn::Sub(one, Widened(hn::Mul(saturation, rest)))));
  const Integer t = Rounded(hn::Mul(value, hn::Sub(one, hn::Mul(Widened(saturation), hn::Sub(one, Widened(rest))))));
  const auto is = [&](int32_t number) HWY_ATTR { return hn::Eq(sector, hn::Set(integers, number)); };
  // Sector 6 is 0 again.
  const auto choose = [&](Integer in_0, Integer in_1, Integer in_2, Integer in_3, Integer in_4, Integer in_5) HWY_ATTR {
    const Integer upper = hn::IfThenElse(is(4), in_4, hn::IfThenElse(is(5), in_5, in_0));
    return hn::IfThenElse(is(1), in_1, hn::IfThenElse(is(2), in_2, hn::IfThenElse(is(3), in_3, upper)));
  };
  Store(choose(hsv.value, q, p, p, t, hsv.value), red);
  Store(choose(t, hsv.value, hsv.value, q, p, p), green);
  Store(choose(p, p, t, hsv.value, hsv.value, q), blue);
}

}  // namespace

// Runs of a whole number of vectors.
void TurnPlanes(uint8_t* red, uint8_t* green, uint8_t* blue, int64_t pixels, int32_t turn) {
  const auto turns = hn::Set(Integers(), turn);
  const auto step = static_cast<int64_t>(hn::Lanes(Doubles()));
  for (int64_t i = 0; i < pixels; i += step) {
    Hsv hsv = HsvOf(Load(red + i), Load(green + i), Load(blue + i));
    hsv.hue = hn::And(hn::Add(hsv.hue, turns), hn::Set(Integers(), 255));
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
