// `InvertStep`, `PosterizeStep` and their neighbours change each value of an image by itself, some by the image's
// histograms: for uint8 as Pillow's ImageOps do, for floats as torchvision does for tensors.
// Threads: constants.
#ifndef HEADRACE_KERNELS_VISION_COLOR_TABLE_STEPS_H_
#define HEADRACE_KERNELS_VISION_COLOR_TABLE_STEPS_H_

#include <vector>

#include "kernels/vision/color/color_kernel.h"

namespace headrace {

// v becomes 255 - v, of floats 1 - v.
const PixelStep& InvertStep();
// Keeps the highest `factor` bits, 0 … 8; floats become the greatest of so many levels that they reach.
const PixelStep& PosterizeStep();
// Inverts values ≥ `factor`, which is in the units of the values.
class SolarizedStep : public TableStep {
 protected:
  void Fill(const PixelFacts& facts, int64_t channel, absl::Span<uint8_t> table) const final;
  void RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const final;
};
const PixelStep& SolarizeStep();
// Spreads each channel so that its values are used about equally often, floats as bytes.
const PixelStep& EqualizeStep();

// Stretches each channel from its least and greatest value to 0 and 255, or 1; for uint8 after `cutoff` percent of its
// values are left out at each end, and those of `ignored` everywhere.
class AutoContrastStep : public TableStep {
 public:
  explicit AutoContrastStep(double cutoff = 0, std::vector<int64_t> ignored = {});
  size_t counts() const override { return kHistogramCounts; }
  void AddCounts(const PixelRow& row, absl::Span<int64_t> counts) const override;

 protected:
  absl::Status CheckFloats() const override;
  void RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const override;
  void Fill(const PixelFacts& facts, int64_t channel, absl::Span<uint8_t> table) const override;

 private:
  double cutoff_;
  std::vector<int64_t> ignored_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_COLOR_TABLE_STEPS_H_
