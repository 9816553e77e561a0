// `Warped` and `Displaced` resample an image at the points that a map of the plane gives, or a field of displacements:
// Pillow's Image.transform, bit for bit, which takes the nearest pixel by arithmetic of its own and does not filter
// where it shrinks. uint16, which it does not interpolate, is rounded to the nearest number.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_WARP_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_WARP_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/output_allocator.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "kernels/vision/image/image.h"

namespace headrace {

enum class WarpFilter { kNearest, kBilinear, kBicubic };
WarpFilter WarpFilterOf(std::string_view name);

// From (x, y) of the result to the image: ((m0·x + m1·y + m2) / w, (m3·x + m4·y + m5) / w) with w = m6·x + m7·y + 1.
struct PlaneMap {
  std::array<double, 8> m = {};
  bool projective = false;  // else w is 1
};

// Interpolation and fill value.
struct WarpOptions {
  WarpFilter filter = WarpFilter::kNearest;
  absl::Span<const ir::Number> fill = {};  // beyond the image: one number, or one per channel
};

// An image of `height` and `width`. Any type for the nearest pixel, otherwise uint8, uint16 and float32; kGraph if not,
// and for a fill that does not fit.
absl::StatusOr<Tensor> Warped(const Image& image, const PlaneMap& map, int64_t height, int64_t width,
                              const WarpOptions& options, OutputAllocator& output);

// How far from its own position each pixel of the result is taken, in pixels: one number for each pixel of the image,
// row by row, along x and along y.
struct DisplacementField {
  const float* x;
  const float* y;
};

// Like Warped, with each pixel taken from its position moved by the field; non-finite displacements sample outside the
// image.
absl::StatusOr<Tensor> Displaced(const Image& image, const DisplacementField& field, const WarpOptions& options,
                                 OutputAllocator& output);

// What the kernels that warp have in common: the attributes `interpolation` and `fill`, and the type of their result,
// whose size is the image's if it `keeps_size`.
ir::Attribute WarpFilterAttribute(std::string_view default_value);
ir::Attribute WarpFillAttribute();
absl::StatusOr<ir::ColumnType> InferWarped(const ir::Attributes& attributes, const ir::ColumnType& input,
                                           bool keeps_size);
inline PixelTypes WarpedTypes(WarpFilter filter) {
  return filter == WarpFilter::kNearest ? PixelTypes::kFixedSize : PixelTypes::kByteWordOrFloat;
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_WARP_H_
