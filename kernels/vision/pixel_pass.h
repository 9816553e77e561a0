// The operations on the values of an image while the result is written: conversions, arithmetic per channel and the
// change of layout. They are done row by row while a row is in the L1 cache, so that the pixels are read and written
// once. The bits are those of the kernels run one after the other.
// Thread contract: made once and const afterwards; Run is safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXEL_PASS_H_
#define HEADRACE_KERNELS_VISION_PIXEL_PASS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "core/tensor.h"
#include "kernels/kernel.h"
#include "kernels/vision/image.h"
#include "kernels/vision/image_moves.h"

namespace headrace {

class PixelPass {
 public:
  // (x - mean) / deviation to float32; one value, or one per channel. False: cannot follow the earlier steps.
  bool Normalize(std::vector<float> mean, std::vector<float> deviation);
  // x · scale + shift to float32.
  bool Scale(float scale, float shift);
  bool Cast(DType dtype);
  // (H, W, C) to (C, H, W).
  bool MoveChannelsFirst();
  bool channels_first() const { return channels_first_; }

  // For uint8 or float32. Fails with kGraph if a step does not support the number of channels.
  absl::StatusOr<Tensor> Run(const Image& image, MovePlan::Flips flips, OutputAllocator& output) const;

 private:
  friend class PixelRows;
  struct Step {
    enum class Kind { kNormalize, kScale, kCast } kind = Kind::kCast;
    std::vector<float> mean = {};
    std::vector<float> deviation = {};
    float scale = 1;
    float shift = 0;
    DType dtype = DType::kFloat32;  // of the result
  };
  // Steps that compute take uint8 and float32.
  bool GivesOtherType() const { return !steps_.empty() && steps_.back().dtype != DType::kFloat32; }

  std::vector<Step> steps_;
  bool channels_first_ = false;
};

// A kernel that computes each value from one value, or changes the layout.
class PixelKernel : public UnaryKernel {
 public:
  // Adds its operation. False: it cannot be a part of this pass.
  virtual bool AddTo(PixelPass& pass) const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXEL_PASS_H_
