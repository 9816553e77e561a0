// What the kernels that change colours of uint8 images share: their steps take one channel, or red, green, blue; those
// with a p are applied to some rows only; and their declarations differ in little.
// Thread contract: that of kernels and steps.
#ifndef HEADRACE_KERNELS_VISION_COLOR_KERNEL_H_
#define HEADRACE_KERNELS_VISION_COLOR_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"
#include "kernels/vision/pixel_kernel.h"

namespace headrace {

class ColorStep : public PixelStep {
 public:
  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const final;
};

// Maps each value independently, using facts of the picture.
class TableStep : public ColorStep {
 public:
  bool by_table() const final { return true; }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const final;

 protected:
  // Entry v is what the value v becomes in the channel.
  virtual void Fill(const PixelFacts& facts, int64_t channel, absl::Span<uint8_t> table) const = 0;
};

// How often each value occurs in each channel: the counts for steps that need histograms.
inline constexpr size_t kHistogramCounts = size_t{3} * 256;
void AddHistograms(const PixelRow& row, absl::Span<int64_t> counts);
inline absl::Span<const int64_t> HistogramOf(const PixelFacts& facts, int64_t channel) {
  return absl::MakeConstSpan(facts.counts).subspan(static_cast<size_t>(channel) * 256, 256);
}

// A kernel of one step, which must outlive it. Where its declaration has an attribute `p` (InSomeRows), a row is
// changed with that probability.
class ColorKernel : public ImagePixelKernel {
 public:
  ColorKernel(const ir::Attributes& attributes, const PixelStep& step, double factor = 0)
      : step_(step), factor_(factor), probability_(attributes.Find("p") ? attributes.Float("p") : 1) {}
  void AddTo(PixelSteps& steps, RowRandom& random) const override {
    if (probability_ == 1 || random.Uniform() < probability_) return steps.Add(step_, factor_);
    steps.Require(step_);
  }

 private:
  const PixelStep& step_;
  double factor_;
  double probability_;
};

// A declaration without attributes and example; `says` is inserted between the description of inputs and that of
// errors.
ir::Declaration ColorDeclaration(std::string name, std::string summary, std::string says);
// `plain` with probability `p`, under another name. torchvision's kernels of these names give p that default.
ir::Declaration InSomeRows(ir::Declaration plain, std::string name, std::string p = "0.5");

// Fails with kGraph, showing `got`, unless it is uint8 of 1 or 3 channels, as far as is known.
absl::Status CheckColor(DType dtype, int64_t channels, std::string_view got);
// uint8 of 1 or 3 channels gives the same.
absl::StatusOr<std::vector<ir::ColumnType>> InferColor(const ir::Attributes& attributes,
                                                       absl::Span<const ir::ColumnType> inputs);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_COLOR_KERNEL_H_
