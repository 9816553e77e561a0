// `ColorKernel` and `ColorStep` make what the kernels that change colours of images share: their steps take uint8, or
// float32 of 0 … 1, of one channel, or of red, green, blue; those with a p are applied to some rows only; and their
// declarations differ in little.
// Threads: that of kernels and steps.
#ifndef HEADRACE_KERNELS_VISION_COLOR_COLOR_KERNEL_H_
#define HEADRACE_KERNELS_VISION_COLOR_COLOR_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"
#include "kernels/vision/fused/pixel_kernel.h"

namespace headrace {

class ColorStep : public PixelStep {
 public:
  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const final;
  bool needs_unit() const final { return true; }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const final {
    if (row.has_floats()) return RunFloats(row, facts, reinterpret_cast<float*>(target));
    RunBytes(row, facts, target);
  }

 protected:
  // kGraph if it takes no floats, as it was made.
  virtual absl::Status CheckFloats() const { return absl::OkStatus(); }
  virtual void RunBytes(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const = 0;
  // Gives values of 0 … 1, too.
  virtual void RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const = 0;
};

// Maps each value independently, using facts of the image.
class TableStep : public ColorStep {
 public:
  bool by_table() const final { return true; }

 protected:
  void RunBytes(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const final;
  // Entry v is what the value v becomes in the channel.
  virtual void Fill(const PixelFacts& facts, int64_t channel, absl::Span<uint8_t> table) const = 0;
};

// How often each value occurs in each channel: the counts for steps that need histograms. Of floats, how often the byte
// that they are converted to.
inline constexpr size_t kHistogramCounts = size_t{3} * 256;
void AddHistograms(const PixelRow& row, absl::Span<int64_t> counts);
// As torchvision converts floats of 0 … 1: each byte stands for as many of them.
inline uint8_t ByteOf(float value) { return static_cast<uint8_t>(value * 255.999f); }
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

// Fails with kGraph, showing `got`, unless it is uint8 or float32 of 1 or 3 channels, as far as is known.
absl::Status CheckColor(DType dtype, int64_t channels, std::string_view got);
absl::Status CheckColor(const PixelFormat& format);
// uint8 and float32 of 1 or 3 channels give the same.
absl::StatusOr<std::vector<ir::ColumnType>> InferColor(const ir::Attributes& attributes,
                                                       absl::Span<const ir::ColumnType> inputs);
// The same, for a step that takes floats only as it was made.
absl::StatusOr<std::vector<ir::ColumnType>> InferColorOf(const ColorStep& step,
                                                         absl::Span<const ir::ColumnType> inputs);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_COLOR_COLOR_KERNEL_H_
