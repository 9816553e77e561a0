#include "kernels/vision/color/table_steps.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "kernels/vision/pixels/normalize_values.h"
#include "kernels/vision/pixels/unit_values.h"

namespace headrace {
namespace {

class Inverted : public TableStep {
 protected:
  void Fill(const PixelFacts&, int64_t, absl::Span<uint8_t> table) const override {
    for (int value = 0; value < 256; ++value) table[value] = static_cast<uint8_t>(255 - value);
  }
  void RunFloats(const PixelRow& row, const PixelFacts&, float* target) const override {
    SolarizeValues(row.floats(), row.count(), 0, target);
  }
};

class Posterized : public TableStep {
 protected:
  void Fill(const PixelFacts& facts, int64_t, absl::Span<uint8_t> table) const override {
    const int lost = 8 - static_cast<int>(facts.factor);
    for (int value = 0; value < 256; ++value) table[value] = static_cast<uint8_t>(value >> lost << lost);
  }
  void RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const override {
    PosterizeValues(row.floats(), row.count(), static_cast<int>(facts.factor), target);
  }
};

float UnitOf(int64_t byte) { return static_cast<float>(byte) / 255.0f; }

class Equalized : public TableStep {
 public:
  size_t counts() const override { return kHistogramCounts; }
  void AddCounts(const PixelRow& row, absl::Span<int64_t> counts) const override { AddHistograms(row, counts); }
  // The histogram of each channel becomes its table.
  void CloseCounts(int64_t pixels, absl::Span<int64_t> counts) const override {
    for (size_t c = 0; c < 3; ++c) Spread(pixels, counts.subspan(c * 256, 256));
  }

 protected:
  void Fill(const PixelFacts& facts, int64_t channel, absl::Span<uint8_t> table) const override {
    const absl::Span<const int64_t> made = HistogramOf(facts, channel);
    std::copy(made.begin(), made.end(), table.begin());
  }
  void RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const override {
    for (int64_t c = 0; c < row.channels; ++c) {
      const absl::Span<const int64_t> made = HistogramOf(facts, row.plane < 0 ? c : row.plane);
      for (int64_t i = c; i < row.count(); i += row.channels) target[i] = UnitOf(made[ByteOf(row.floats()[i])]);
    }
  }

 private:
  static void Spread(int64_t pixels, absl::Span<int64_t> histogram) {
    const auto last = std::find_if(histogram.rbegin(), histogram.rend(), [](int64_t count) { return count > 0; });
    const int64_t step = last == histogram.rend() ? 0 : (pixels - *last) / 255;
    if (step == 0) return std::iota(histogram.begin(), histogram.end(), int64_t{0});
    int64_t sum = step / 2;
    for (int64_t& value : histogram) {
      const int64_t before = sum;
      sum += value;
      value = std::min<int64_t>(before / step, 255);
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

// Floats of 0 … 1 are in the order of their bits. Of each channel, how far the least one is below 1, and the greatest
// one, so that both begin at nothing.
constexpr size_t kGreatest = 3;
constexpr int64_t kOne = std::bit_cast<int32_t>(1.0f);

void AddExtremes(const PixelRow& row, absl::Span<int64_t> counts) {
  for (int64_t c = 0; c < row.channels; ++c) {
    float least = 1;
    float greatest = 0;
    for (int64_t i = c; i < row.count(); i += row.channels) {
      least = std::min(least, row.floats()[i]);
      greatest = std::max(greatest, row.floats()[i]);
    }
    // Adds 0 because -0 has other bits than it.
    counts[c] = std::max(counts[c], kOne - std::bit_cast<int32_t>(least + 0.0f));
    counts[kGreatest + c] = std::max<int64_t>(counts[kGreatest + c], std::bit_cast<int32_t>(greatest));
  }
}

float FloatOf(int64_t bits) { return std::bit_cast<float>(static_cast<int32_t>(bits)); }

}  // namespace

void SolarizedStep::Fill(const PixelFacts& facts, int64_t, absl::Span<uint8_t> table) const {
  for (int value = 0; value < 256; ++value) {
    table[value] = static_cast<uint8_t>(value < facts.factor ? value : 255 - value);
  }
}

void SolarizedStep::RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const {
  SolarizeValues(row.floats(), row.count(), static_cast<float>(facts.factor), target);
}

const PixelStep& InvertStep() {
  static const Inverted step;
  return step;
}

const PixelStep& PosterizeStep() {
  static const Posterized step;
  return step;
}

const PixelStep& SolarizeStep() {
  static const SolarizedStep step;
  return step;
}

const PixelStep& EqualizeStep() {
  static const Equalized step;
  return step;
}

AutoContrastStep::AutoContrastStep(double cutoff, std::vector<int64_t> ignored)
    : cutoff_(cutoff), ignored_(std::move(ignored)) {}

absl::Status AutoContrastStep::CheckFloats() const {
  if (cutoff_ == 0 && ignored_.empty()) return absl::OkStatus();
  return GraphError("cutoff and ignore are for uint8: put it before ToFloat and TypeCast");
}

void AutoContrastStep::AddCounts(const PixelRow& row, absl::Span<int64_t> counts) const {
  row.has_floats() ? AddExtremes(row, counts) : AddHistograms(row, counts);
}

void AutoContrastStep::RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const {
  std::vector<float> least;
  std::vector<float> range;
  for (int64_t c = 0; c < row.channels; ++c) {
    const int64_t channel = row.plane < 0 ? c : row.plane;
    const float low = FloatOf(kOne - facts.counts[channel]);
    const float high = FloatOf(facts.counts[kGreatest + channel]);
    least.push_back(high > low ? low : 0);
    range.push_back(high > low ? high - low : 1);
  }
  NormalizeValues(row.values, row.dtype, row.count(), NormalizePattern(least, range, row.channels), target);
}

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
