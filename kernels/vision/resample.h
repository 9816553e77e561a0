// Pillow's resampling: a separable filter that widens as the image shrinks, one pass along rows and one along columns,
// with 22-bit coefficients and 8-bit rounding between the two for uint8. Bit-equal to Image.resize of Pillow 13: modes
// L and RGB for uint8, mode F (channel by channel) for float32. Pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_RESAMPLE_H_
#define HEADRACE_KERNELS_VISION_RESAMPLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "kernels/vision/image.h"

namespace headrace {

enum class Filter { kBox, kBilinear, kBicubic };

// How each position of the output gathers from an axis of the input: `count[i]` neighbours from `first[i]` on, weighted
// by weights[i * taps …].
struct FilterTaps {
  int taps = 0;
  std::vector<int> first;
  std::vector<int> count;
  std::vector<double> weights;
};
FilterTaps MakeFilterTaps(Filter filter, int64_t in_size, int64_t out_size);

// uint8 or float32, any number of channels. A pass along an axis whose size stays is skipped, as Pillow does.
absl::StatusOr<Tensor> Resample(const Image& image, Filter filter, int64_t height, int64_t width);

// Pillow's NEAREST: the pixel under the centre of each new one.
absl::StatusOr<Tensor> ResampleNearest(const Image& image, int64_t height, int64_t width);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_RESAMPLE_H_
