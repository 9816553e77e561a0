// `InverseOf`, `TurningOf` and `ProjectionOf` compute the maps of the plane for rotations, affine and projective
// transformations, as Pillow and torchvision compute them, to the last bit where those use float64.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_AFFINE_MAP_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_AFFINE_MAP_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "kernels/vision/geometry/warp.h"
#include "kernels/vision/image/image.h"

namespace headrace {

using PlanePoint = std::array<double, 2>;  // x, y

struct AffineParameters {
  double angle = 0;  // degrees, clockwise
  PlanePoint translate = {0, 0};
  double scale = 1;
  PlanePoint shear = {0, 0};              // degrees
  std::optional<PlanePoint> center = {};  // of rotation, scale and shear; nullopt: the image's middle
};

// From the result to an image of this size: the inverse affine matrix of torchvision.transforms.v2.
PlaneMap InverseOf(const AffineParameters& parameters, int64_t height, int64_t width);

// How an image of this size is turned by `angle` degrees, counter-clockwise, as Pillow's Image.rotate turns it: in its
// own size, or, if `expand`, in one that holds all of it.
struct Turning {
  int quarters = 0;  // by so many, without resampling, if `whole`
  bool whole = true;
  PlaneMap map = {};   // otherwise
  int64_t height = 0;  // of the result
  int64_t width = 0;
};
Turning TurningOf(double angle, bool expand, std::optional<PlanePoint> center, int64_t height, int64_t width);

// The whole image of its tensor turned so. May return a view.
absl::StatusOr<Tensor> Rotated(const Image& image, const Turning& turning, const WarpOptions& options,
                               OutputAllocator& output);

// Maps the four points `to` of the result to the points `from` of the image; kGraph if three of them are on one line.
using Corners = std::array<PlanePoint, 4>;
absl::StatusOr<PlaneMap> ProjectionOf(const Corners& from, const Corners& to);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_AFFINE_MAP_H_
