#include "kernels/vision/turn_hue.h"

#include <algorithm>

namespace headrace {
namespace {

struct Hsv {
  uint8_t hue = 0;
  uint8_t saturation = 0;
  uint8_t value = 0;
};

// Mixes float and double as Pillow does: the bits depend on it.
Hsv HsvOf(const uint8_t* rgb) {
  const uint8_t most = std::max({rgb[0], rgb[1], rgb[2]});
  const uint8_t least = std::min({rgb[0], rgb[1], rgb[2]});
  if (most == least) return {0, 0, most};
  const auto range = static_cast<float>(most - least);
  const float saturation = range / static_cast<float>(most);
  const float red = static_cast<float>(most - rgb[0]) / range;
  const float green = static_cast<float>(most - rgb[1]) / range;
  const float blue = static_cast<float>(most - rgb[2]) / range;
  float hue;
  if (rgb[0] == most) {
    hue = blue - green;
  } else if (rgb[1] == most) {
    hue = static_cast<float>(2.0 + red - blue);
  } else {
    hue = static_cast<float>(4.0 + green - red);
  }
  // Between 5/6 and 11/6: the remainder by 1 takes one subtraction.
  const double turned = hue / 6.0 + 1.0;
  hue = static_cast<float>(turned >= 1.0 ? turned - 1.0 : turned);
  return {static_cast<uint8_t>(static_cast<int>(hue * 255.0)),
          static_cast<uint8_t>(static_cast<int>(saturation * 255.0)), most};
}

// For 0 … 255.
uint8_t Rounded(double value) {
  const int whole = static_cast<int>(value);
  return static_cast<uint8_t>(value - whole >= 0.5 ? whole + 1 : whole);
}

void WriteRgb(const Hsv& hsv, uint8_t* rgb) {
  const auto write = [rgb](uint8_t red, uint8_t green, uint8_t blue) {
    rgb[0] = red;
    rgb[1] = green;
    rgb[2] = blue;
  };
  const uint8_t value = hsv.value;
  if (hsv.saturation == 0) return write(value, value, value);
  const double sixths = static_cast<float>(hsv.hue) * 6.0 / 255.0;
  const int sector = static_cast<int>(sixths);
  const auto rest = static_cast<float>(sixths - static_cast<float>(sector));
  const auto saturation = static_cast<float>(static_cast<float>(hsv.saturation) / 255.0);
  const uint8_t p = Rounded(value * (1.0 - saturation));
  const uint8_t q = Rounded(value * (1.0 - saturation * rest));
  const uint8_t t = Rounded(value * (1.0 - saturation * (1.0 - rest)));
  switch (sector % 6) {
    case 0:
      return write(value, t, p);
    case 1:
      return write(q, value, p);
    case 2:
      return write(p, value, t);
    case 3:
      return write(p, q, value);
    case 4:
      return write(t, p, value);
    default:
      return write(value, p, q);
  }
}

}  // namespace

void TurnHue(const uint8_t* rgb, int64_t pixels, uint8_t turn, uint8_t* target) {
  for (int64_t i = 0; i < pixels; ++i, rgb += 3, target += 3) {
    Hsv hsv = HsvOf(rgb);
    hsv.hue = static_cast<uint8_t>(hsv.hue + turn);
    WriteRgb(hsv, target);
  }
}

}  // namespace headrace
