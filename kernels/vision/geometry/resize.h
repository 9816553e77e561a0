// `Resized` resizes by any of the interpolations, with Pillow's filters (antialias) or OpenCV's cv::resize; the
// attributes here choose them. It reads any view of an image, so a crop is resized without a copy.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_RESIZE_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_RESIZE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "core/tensor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/image/image_size.h"
#include "kernels/vision/image/window.h"
#include "kernels/vision/pixels/resample.h"

namespace headrace {

enum class Interpolation { kNearest, kBilinear, kBicubic, kArea, kLanczos };

struct Resizing {
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;

  // From the attributes below.
  static Resizing Of(const ir::Attributes& attributes);
  // Whether a part of the result can be made alone, with the same bits.
  bool CanGivePart() const { return antialias && interpolation != Interpolation::kNearest; }
  // What it resizes: Pillow's nearest pixel is copied, whatever it is.
  PixelTypes accepted() const {
    const bool copies = antialias && interpolation == Interpolation::kNearest;
    return copies ? PixelTypes::kFixedSize : PixelTypes::kByteWordOrFloat;
  }
};

// Pillow's filter of an interpolation other than nearest.
Filter FilterOf(Interpolation interpolation);

// The part of a source of `source_height` × `source_width` that is read for the part `part` of the result of `height` ×
// `width`.
Window NeededToResize(int64_t source_height, int64_t source_width, int64_t height, int64_t width, const Window& part,
                      Resizing resizing);

// The part `part` of the source resized to `height` × `width`; the whole, unless resizing.CanGivePart().
absl::StatusOr<Tensor> Resized(const SourcePart& source, int64_t height, int64_t width, const Window& part,
                               Resizing resizing, OutputAllocator& output);

// What OpenCV advises for such a change of size.
Interpolation BestInterpolation(ImageSize from, ImageSize to);

ir::Attribute InterpolationAttribute();
// With the choice "auto", for each image; `meaning` says what it chooses.
ir::Attribute InterpolationOrAuto(std::string_view meaning);
ir::Attribute AntialiasAttribute();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_RESIZE_H_
