#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/color/color_kernel.h"

namespace headrace {
namespace {

constexpr std::array<float, 3> kMost = {180, 255, 255};

using Pixel = std::array<float, 3>;

uint8_t Byte(float value) { return static_cast<uint8_t>(std::clamp(std::nearbyint(value), 0.0f, 255.0f)); }

// Hue, lightness and saturation in 0 … 180, 0 … 255 and 0 … 255, rounded: OpenCV's RGB2HLS of bytes, but for one in
// 10,000 hues, which lie between two numbers and are rounded to the other one.
Pixel HlsOf(const uint8_t* rgb) {
  const float r = static_cast<float>(rgb[0]) * (1.0f / 255);
  const float g = static_cast<float>(rgb[1]) * (1.0f / 255);
  const float b = static_cast<float>(rgb[2]) * (1.0f / 255);
  const float most = std::max({r, g, b});
  const float least = std::min({r, g, b});
  const float range = most - least;
  const float lightness = (most + least) * 0.5f;
  if (range <= FLT_EPSILON) return {0, std::nearbyint(lightness * 255), 0};
  const float saturation = range / (lightness < 0.5f ? most + least : 2 - (most + least));
  float hue = 0;
  if (most == r) {
    hue = (g - b) * (60 / range);
  } else if (most == g) {
    hue = (b - r) * (60 / range) + 120;
  } else {
    hue = (r - g) * (60 / range) + 240;
  }
  if (hue < 0) hue += 360;
  return {std::nearbyint(hue / 2), std::nearbyint(lightness * 255), std::nearbyint(saturation * 255)};
}

// OpenCV's HLS2RGB of bytes.
void WriteRgb(const Pixel& hls, uint8_t* rgb) {
  // For each sixth of the circle, which of the four numbers red, green and blue are.
  static constexpr uint8_t kSectors[6][3] = {{0, 3, 1}, {2, 0, 1}, {1, 0, 3}, {1, 2, 0}, {3, 1, 0}, {0, 1, 2}};
  const float lightness = hls[1] / 255;
  const float saturation = hls[2] / 255;
  if (saturation == 0) {
    std::fill_n(rgb, 3, Byte(lightness * 255));
    return;
  }
  const float high = lightness <= 0.5f ? lightness * (1 + saturation) : lightness + saturation - lightness * saturation;
  const float low = 2 * lightness - high;
  float hue = hls[0] * (6.0f / 180);
  if (hue >= 6) hue -= 6;
  const auto sector = std::min(static_cast<int>(hue), 5);
  const float part = hue - static_cast<float>(sector);
  const std::array<float, 4> numbers = {high, low, low + (high - low) * (1 - part), low + (high - low) * part};
  for (int c = 0; c < 3; ++c) rgb[c] = Byte(numbers[kSectors[sector][c]] * 255);
}

absl::Status NotTakenRandomHls(std::string_view got) {
  return GraphError("needs uint8 of 3 channels (red, green, blue): put it before ToFloat, Normalize and TypeCast; got ",
                    got);
}

class ShiftHlsStep : public PixelStep {
 public:
  bool by_value() const override { return false; }
  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const override {
    if (before.dtype == DType::kUInt8 && before.channels == 3) return before;
    return NotTakenRandomHls(Cat(DTypeName(before.dtype), " of ", before.channels, " channels"));
  }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    for (int64_t i = 0; i < row.count(); i += 3) {
      Pixel hls = HlsOf(row.values + i);
      for (int k = 0; k < 3; ++k) {
        hls[k] = std::clamp(hls[k] + static_cast<float>(facts.channel[k]), 0.0f, kMost[k]);
      }
      WriteRgb(hls, target + i);
    }
  }
};

class RandomHls : public ImagePixelKernel {
 public:
  explicit RandomHls(const ir::Attributes& attributes)
      : most_{attributes.Int("hue"), attributes.Int("lightness"), attributes.Int("saturation")} {}

  void AddTo(PixelSteps& steps, RowRandom& random) const override {
    std::array<double, 3> shifts = {};
    for (int k = 0; k < 3; ++k) {
      const auto most = static_cast<double>(most_[k]);
      shifts[k] = std::trunc(random.Uniform(-most, most));
    }
    steps.Add(step_, shifts);
  }

 private:
  std::array<int64_t, 3> most_;
  ShiftHlsStep step_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferRandomHls(const ir::Attributes& attributes,
                                                           absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<ir::ColumnType> types, InferColor(attributes, inputs));
  const std::optional<Shape>& shape = types[0].shape;
  const bool grey = shape.has_value() && (shape->size() == 2 || (shape->size() == 3 && shape->back() == 1));
  if (grey || types[0].dtype == DType::kFloat32) return NotTakenRandomHls(ir::TypeName(inputs[0]));
  types[0].dtype = DType::kUInt8;
  return types;
}

ir::Attribute Most(const char* name, const char* doc, double maximum) {
  return {.name = name, .doc = doc, .default_value = "0", .minimum = 0, .maximum = maximum};
}

ir::Declaration DeclaredRandomHls() {
  ir::Declaration declaration = ColorDeclaration("RandomHls", "Shifts hue, lightness and saturation at random.", "");
  declaration.doc =
      "Takes uint8 of shape (H, W, 3), in the order red, green, blue, and gives the same type and shape. Pixels go to "
      "hue, lightness and saturation as OpenCV has them for bytes: 0 … 180, 0 … 255 and 0 … 255. To each of the three "
      "a number is added that the row draws uniformly from -x … x, without its fraction; what is beyond the range is "
      "set to its bound, the hue, too: MXNet's random_h, random_l and random_s.\n"
      "Errors: another dtype, rank or number of channels.";
  declaration.attributes = {Most("hue", "The most that is added to the hue, in units of 2 degrees.", 180),
                            Most("lightness", "The most that is added to the lightness, of 255.", 255),
                            Most("saturation", "The most that is added to the saturation, of 255.", 255)};
  declaration.traits.random = true;
  declaration.example = "V.RandomHls(hue=18, lightness=40, saturation=40)";
  declaration.sample.attributes = {{"hue", "18"}, {"lightness", "40"}, {"saturation", "40"}};
  declaration.infer_kernel = InferRandomHls;
  return declaration;
}

const KernelRegistration random_hls_registration{DeclaredRandomHls(), Makes<RandomHls>()};

}  // namespace
}  // namespace headrace
