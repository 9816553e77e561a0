// `PixelStep` is one computation on the pixels of an image, done for one row of pixels after the other while a row is
// in the L1 cache. A step computes each value from one value, or each pixel from one pixel; it may use its place, what
// its kernel drew for the image, and counts of the whole image, which are made in a pass before.
// Threads: const; any thread may run a step on any image.
#ifndef HEADRACE_KERNELS_VISION_IMAGE_PIXEL_STEP_H_
#define HEADRACE_KERNELS_VISION_IMAGE_PIXEL_STEP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "kernels/vision/image/window.h"

namespace headrace {

// What the pixels of an image are before or after a step.
struct PixelFormat {
  DType dtype = DType::kUInt8;
  int64_t channels = 1;
  bool has_channel_axis = true;  // (H, W, C); else (H, W)
  bool within_unit = false;      // floats that are known to be 0 … 1
};

// A row of pixels, or of one channel of them.
struct PixelRow {
  const uint8_t* values = nullptr;
  DType dtype = DType::kUInt8;
  int64_t pixels = 0;
  int64_t channels = 1;  // interleaved; 1 for a plane
  int64_t plane = -1;    // the channel that the row holds; -1: all, interleaved
  int64_t y = 0;         // of the row in the image

  int64_t count() const { return pixels * channels; }
  bool has_floats() const { return dtype == DType::kFloat32; }
  const float* floats() const { return reinterpret_cast<const float*>(values); }
};

// Facts about the image, for steps.
struct PixelFacts {
  double factor = 0;                   // given or drawn by its kernel
  std::array<double, 3> channel = {};  // the same, for each channel
  Window window = {};                  // given or drawn, too
  int64_t pixels = 0;                  // of the image
  std::vector<int64_t> counts = {};    // of the image, as it comes to the step
};

class PixelStep {
 public:
  virtual ~PixelStep() = default;
  // The pixels after the step; kGraph if it does not take those before.
  virtual absl::StatusOr<PixelFormat> After(const PixelFormat& before) const = 0;
  // Whether a value needs no other value of its pixel: the step may then be given planes.
  virtual bool by_value() const { return true; }
  // Whether a value depends on its place in the image, too.
  virtual bool by_place() const { return false; }
  // Whether Run is slow for many values: uint8 pixels are then mapped by a table of its 256 results. Only if it is by
  // value and gives uint8 for uint8.
  virtual bool by_table() const { return false; }
  // Whether it takes floats of 0 … 1 alone: the image is refused for others, before the step sees their row.
  virtual bool needs_unit() const { return false; }
  // How many counts of the image it needs. AddCounts then sees each row first, interleaved; at last, CloseCounts may
  // turn them into what Run needs.
  virtual size_t counts() const { return 0; }
  virtual void AddCounts(const PixelRow& /*row*/, absl::Span<int64_t> /*counts*/) const {}
  virtual void CloseCounts(int64_t /*pixels*/, absl::Span<int64_t> /*counts*/) const {}
  // `target` has room for a row after the step, and is not the row.
  virtual void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_IMAGE_PIXEL_STEP_H_
