// Pillow's resampling: a separable filter that widens as the image shrinks, one pass along rows and one along columns,
// with 22-bit coefficients and 8-bit rounding between the two for uint8. Bit-equal to Image.resize of Pillow 13: modes
// L and RGB for uint8, mode F (channel by channel) for float32. Pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_RESAMPLE_H_
#define HEADRACE_KERNELS_VISION_RESAMPLE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "core/tensor.h"
#include "kernels/vision/image.h"
#include "kernels/vision/resample_passes.h"
#include "kernels/vision/window.h"

namespace headrace {

enum class Filter { kBox, kBilinear, kBicubic };

// A piece of an axis.
struct AxisRange {
  int64_t begin = 0;
  int64_t size = 0;
};
// What of an axis of `in_size` is read for the piece `out` of the axis resampled to `out_size`.
AxisRange NeededAlongAxis(Filter filter, int64_t in_size, int64_t out_size, AxisRange out);
// Fills `taps`, whose memory is used again; of the same piece, and positions of the input count from `in_begin`.
void MakeFilterTaps(Filter filter, int64_t in_size, int64_t out_size, AxisRange out, int64_t in_begin,
                    FilterTaps& taps);

// Where something lies in a larger image.
struct Origin {
  int64_t top = 0;
  int64_t left = 0;
};
// An image of which only a part is there.
struct SourcePart {
  Image image;  // the part
  Origin origin;
  int64_t height = 0;  // of the whole
  int64_t width = 0;
};

// The part `part` of the source resampled to `height` × `width`. uint8 or float32, any number of channels. A pass along
// an axis whose size stays is skipped, as Pillow does. Of the source at least what NeededAlongAxis says must be there.
absl::StatusOr<Tensor> Resample(const SourcePart& source, Filter filter, int64_t height, int64_t width,
                                const Window& part, OutputAllocator& output);

// Pillow's NEAREST: the pixel under the centre of each new one.
absl::StatusOr<Tensor> ResampleNearest(const Image& image, int64_t height, int64_t width, OutputAllocator& output);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_RESAMPLE_H_
