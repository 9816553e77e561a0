#include "kernels/vision/table_steps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace headrace {
namespace {

class Inverted : public TableStep {
 protected:
  void Fill(const PixelFacts&, int64_t, absl::Span<uint8_t> table) const override {
    for (int value = 0; value < 256; ++value) table[value] = static_cast<uint8_t>(255 - value);
  }
};

class Posterized : public TableStep {
 protected:
  void Fill(const PixelFacts& facts, int64_t, absl::Span<uint8_t> table) const override {
    const int lost = 8 - static_cast<int>(facts.factor);
    for (int value = 0; value < 256; ++value) table[value] = static_cast<uint8_t>(value >> lost << lost);
  }
};

class Solarized : public TableStep {
 protected:
  void Fill(const PixelFacts& facts, int64_t, absl::Span<uint8_t> table) const override {
    for (int value = 0; value < 256; ++value) {
      table[value] = static_cast<uint8_t>(value < facts.factor ? value : 255 - value);
    }
  }
};

class Equalized : public TableStep {
 public:
  size_t counts() const override { return kHistogramCounts; }
  void AddCounts(const PixelRow& row, absl::Span<int64_t> counts) const override { AddHistograms(row, counts); }

 protected:
  void Fill(const PixelFacts& facts, int64_t channel, absl::Span<uint8_t> table) const override {
    const absl::Span<const int64_t> histogram = HistogramOf(facts, channel);
    const int64_t last = *std::find_if(histogram.rbegin(), histogram.rend(), [](int64_t count) { return count > 0; });
    const int64_t step = (facts.pixels - last) / 255;
    if (step == 0) return std::iota(table.begin(), table.end(), uint8_t{0});
    int64_t sum = step / 2;
    for (int value = 0; value < 256; ++value) {
      table[value] = static_cast<uint8_t>(std::min<int64_t>(sum / step, 255));
      sum += histogram[value];
    }
  }
};

using Histogram = std::array<int64_t, 256>;

// From the first value on.
template <typename Iterator>
void CutOff(int64_t cut, Iterator begin, Iterator end) {
  for (; begin != end && cut > 0; ++begin) {
    const int64_t taken = std::min(cut, *begin);
    *begin -= taken;
    cut -= taken;
  }
}

// Python's n * percent // 100.
int64_t ShareOf(int64_t n, double percent) {
  const double product = static_cast<double>(n) * percent;
  return static_cast<int64_t>(std::nearbyint((product - std::fmod(product, 100)) / 100));
}

}  // namespace

const PixelStep& InvertStep() {
  static const Inverted step;
  return step;
}

const PixelStep& PosterizeStep() {
  static const Posterized step;
  return step;
}

const PixelStep& SolarizeStep() {
  static const Solarized step;
  return step;
}

const PixelStep& EqualizeStep() {
  static const Equalized step;
  return step;
}

AutoContrastStep::AutoContrastStep(double cutoff, std::vector<int64_t> ignored)
    : cutoff_(cutoff), ignored_(std::move(ignored)) {}

void AutoContrastStep::Fill(const PixelFacts& facts, int64_t channel, absl::Span<uint8_t> table) const {
  Histogram histogram;
  std::copy_n(HistogramOf(facts, channel).begin(), 256, histogram.begin());
  for (const int64_t value : ignored_) histogram[value] = 0;
  const int64_t cut = ShareOf(std::accumulate(histogram.begin(), histogram.end(), int64_t{0}), cutoff_);
  CutOff(cut, histogram.begin(), histogram.end());
  CutOff(cut, histogram.rbegin(), histogram.rend());
  const auto used = [](int64_t count) { return count != 0; };
  const auto low = std::find_if(histogram.begin(), histogram.end(), used) - histogram.begin();
  const auto high = 255 - (std::find_if(histogram.rbegin(), histogram.rend(), used) - histogram.rbegin());
  if (high <= low) return std::iota(table.begin(), table.end(), uint8_t{0});
  const double scale = 255.0 / static_cast<double>(high - low);
  const double offset = -static_cast<double>(low) * scale;
  for (int value = 0; value < 256; ++value) {
    table[value] = static_cast<uint8_t>(std::clamp(static_cast<int>(value * scale + offset), 0, 255));
  }
}

}  // namespace headrace
