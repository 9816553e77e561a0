#include "kernels/vision/color/color_steps.h"

#include <algorithm>
#include <numeric>

#include "kernels/vision/pixels/blend_values.h"
#include "kernels/vision/pixels/luma_values.h"
#include "kernels/vision/pixels/turn_hue.h"
#include "kernels/vision/pixels/unit_colors.h"
#include "kernels/vision/pixels/unit_values.h"

namespace headrace {
namespace {

class Brightness : public ColorStep {
 protected:
  void RunBytes(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    BlendWithValue(row.values, row.count(), 0, static_cast<float>(facts.factor), target);
  }
  void RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const override {
    BlendWithValue(row.floats(), row.count(), 0, facts.factor, target);
  }
};

int64_t SumOfLuma(const float* rgb, int64_t pixels) {
  constexpr int64_t kMost = 1024;
  float luma[kMost];
  int64_t sum = 0;
  for (int64_t first = 0; first < pixels; first += kMost) {
    const int64_t count = std::min(pixels - first, kMost);
    FillLuma(rgb + 3 * first, count, luma);
    sum += SumValues(luma, count);
  }
  return sum;
}

class Contrast : public ColorStep {
 public:
  size_t counts() const override { return 1; }
  void AddCounts(const PixelRow& row, absl::Span<int64_t> counts) const override {
    if (row.has_floats()) {
      counts[0] += row.channels == 3 ? SumOfLuma(row.floats(), row.pixels) : SumValues(row.floats(), row.pixels);
    } else {
      counts[0] += row.channels == 3 ? SumLuma(row.values, row.pixels)
                                     : std::accumulate(row.values, row.values + row.pixels, int64_t{0});
    }
  }

 protected:
  void RunBytes(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    BlendWithValue(row.values, row.count(), static_cast<uint8_t>(MeanOf(facts) + 0.5), static_cast<float>(facts.factor),
                   target);
  }
  void RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const override {
    BlendWithValue(row.floats(), row.count(), static_cast<float>(MeanOf(facts) * kUnitOfSums), facts.factor, target);
  }

 private:
  static double MeanOf(const PixelFacts& facts) {
    return static_cast<double>(facts.counts[0]) / static_cast<double>(facts.pixels);
  }
};

class Saturation : public ColorStep {
 public:
  bool by_value() const override { return false; }

 protected:
  void RunBytes(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    if (row.channels == 3) return BlendWithLuma(row.values, row.pixels, static_cast<float>(facts.factor), target);
    std::copy_n(row.values, row.pixels, target);
  }
  void RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const override {
    if (row.channels == 3) return BlendWithLuma(row.floats(), row.pixels, facts.factor, target);
    std::copy_n(row.floats(), row.pixels, target);
  }
};

class Hue : public ColorStep {
 public:
  bool by_value() const override { return false; }

 protected:
  void RunBytes(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    const auto turn = static_cast<uint8_t>(static_cast<int>(facts.factor * 255));
    if (row.channels == 3) return TurnHue(row.values, row.pixels, turn, target);
    std::copy_n(row.values, row.pixels, target);
  }
  void RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const override {
    if (row.channels == 3) return TurnHue(row.floats(), row.pixels, facts.factor, target);
    std::copy_n(row.floats(), row.pixels, target);
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
