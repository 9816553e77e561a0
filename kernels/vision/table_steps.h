// The steps that change each value of a uint8 image by itself, as Pillow's ImageOps do, some by the picture's
// histograms. Thread contract: constants.
#ifndef HEADRACE_KERNELS_VISION_TABLE_STEPS_H_
#define HEADRACE_KERNELS_VISION_TABLE_STEPS_H_

#include <vector>

#include "kernels/vision/color_kernel.h"

namespace headrace {

// v becomes 255 - v.
const PixelStep& InvertStep();
// Keeps the highest `factor` bits, 0 … 8.
const PixelStep& PosterizeStep();
// Inverts values ≥ `factor`.
const PixelStep& SolarizeStep();
// Spreads each channel so that its values are used about equally often.
const PixelStep& EqualizeStep();

// Stretches each channel from its least and greatest value to 0 and 255, after `cutoff` percent of its values are left
// out at each end, and those of `ignored` everywhere.
class AutoContrastStep : public TableStep {
 public:
  explicit AutoContrastStep(double cutoff = 0, std::vector<int64_t> ignored = {});
  size_t counts() const override { return kHistogramCounts; }
  void AddCounts(const PixelRow& row, absl::Span<int64_t> counts) const override { AddHistograms(row, counts); }

 protected:
  void Fill(const PixelFacts& facts, int64_t channel, absl::Span<uint8_t> table) const override;

 private:
  double cutoff_;
  std::vector<int64_t> ignored_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_TABLE_STEPS_H_
