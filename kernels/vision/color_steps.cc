#include "kernels/vision/color_steps.h"

#include <cstring>
#include <numeric>

#include "kernels/vision/blend_values.h"
#include "kernels/vision/luma_values.h"
#include "kernels/vision/turn_hue.h"

namespace headrace {
namespace {

class Brightness : public ColorStep {
 public:
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    BlendWithValue(row.values, row.count(), 0, static_cast<float>(facts.factor), target);
  }
};

class Contrast : public ColorStep {
 public:
  size_t counts() const override { return 1; }
  void AddCounts(const PixelRow& row, absl::Span<int64_t> counts) const override {
    counts[0] += row.channels == 3 ? SumLuma(row.values, row.pixels)
                                   : std::accumulate(row.values, row.values + row.pixels, int64_t{0});
  }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    const double mean = static_cast<double>(facts.counts[0]) / static_cast<double>(facts.pixels);
    BlendWithValue(row.values, row.count(), static_cast<uint8_t>(mean + 0.5), static_cast<float>(facts.factor), target);
  }
};

class Saturation : public ColorStep {
 public:
  bool by_value() const override { return false; }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    if (row.channels == 3) return BlendWithLuma(row.values, row.pixels, static_cast<float>(facts.factor), target);
    std::memcpy(target, row.values, static_cast<size_t>(row.pixels));
  }
};

class Hue : public ColorStep {
 public:
  bool by_value() const override { return false; }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    const auto turn = static_cast<uint8_t>(static_cast<int>(facts.factor * 255));
    if (row.channels == 3) return TurnHue(row.values, row.pixels, turn, target);
    std::memcpy(target, row.values, static_cast<size_t>(row.pixels));
  }
};

}  // namespace

const PixelStep& BrightnessStep() {
  static const Brightness step;
  return step;
}

const PixelStep& ContrastStep() {
  static const Contrast step;
  return step;
}

const PixelStep& SaturationStep() {
  static const Saturation step;
  return step;
}

const PixelStep& HueStep() {
  static const Hue step;
  return step;
}

}  // namespace headrace
