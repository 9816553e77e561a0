// `Resample` is Pillow's resampling: a separable filter that widens as the image shrinks, one pass along rows and one
// along columns, with 22-bit coefficients and 8-bit rounding between the two for uint8. It is bit-equal to Image.resize
// of Pillow 13: modes L and RGB for uint8, mode F (channel by channel) for float32, and mode I;16 (likewise) for
// uint16, except that values above 65535 are clamped, where Pillow's wrap around.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_RESAMPLE_H_
#define HEADRACE_KERNELS_VISION_PIXELS_RESAMPLE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "core/tensor.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/image/window.h"
#include "kernels/vision/pixels/resample_passes.h"

namespace headrace {

enum class Filter { kBox, kBilinear, kBicubic, kLanczos };

// A part of an axis.
struct AxisRange {
  int64_t begin = 0;
  int64_t size = 0;
};
// The part of an axis of `in_size` that is read for the part `out` of the axis resampled to `out_size`.
AxisRange NeededAlongAxis(Filter filter, int64_t in_size, int64_t out_size, AxisRange out);
// The most inputs of a position of the result; not for equal sizes.
int TapsOf(Filter filter, int64_t in_size, int64_t out_size);
// Pillow 13 filters columns first if the height shrinks by more than twice as much as the width; earlier versions never
// did. Rounding between the passes makes the order visible.
bool FiltersColumnsFirst(int64_t source_height, int64_t source_width, int64_t height, int64_t width);
// Fills `taps`, whose memory is reused, for the same part; positions of the input count from `in_begin`.
void MakeFilterTaps(Filter filter, int64_t in_size, int64_t out_size, AxisRange out, int64_t in_begin,
                    FilterTaps& taps);

// The position of a part in a larger image.
struct PartOffset {
  int64_t top = 0;
  int64_t left = 0;
};
// A part of an image, with its position in the whole.
struct SourcePart {
  Image image;  // the part
  PartOffset offset;
  int64_t height = 0;  // of the whole
  int64_t width = 0;
};

// The part `part` of the source resampled to `height` × `width`. uint8, uint16 or float32, any number of channels. A
// pass along an axis of unchanged size is skipped, as in Pillow. The source must contain at least the range of
// NeededAlongAxis.
absl::StatusOr<Tensor> Resample(const SourcePart& source, Filter filter, int64_t height, int64_t width,
                                const Window& part, OutputAllocator& output);

// Pillow's NEAREST: the pixel at the centre of each new one.
absl::StatusOr<Tensor> ResampleNearest(const Image& image, int64_t height, int64_t width, OutputAllocator& output);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_RESAMPLE_H_
