// `AreaAndRatio` holds the intervals from which a kernel draws the area and the ratio of rectangles, as MXNet's
// augmentations of detection do. Use it for kernels with the attributes `aspect_ratio_range` and `area_range`.
// Threads: values and pure functions.
#ifndef HEADRACE_KERNELS_VISION_IMAGE_AREA_AND_RATIO_H_
#define HEADRACE_KERNELS_VISION_IMAGE_AREA_AND_RATIO_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "kernels/vision/image/resized_crop_box.h"

namespace headrace {

struct AreaAndRatio {
  // From the two attributes. Fails with kGraph if one of them ends before it begins.
  static absl::StatusOr<AreaAndRatio> Of(const ir::Attributes& attributes);

  Interval ratio;  // width over height
  Interval area;   // as a share of the image's
};

ir::Attribute AspectRatioRange();
ir::Attribute AreaRange(std::string doc, std::string default_value, double minimum);
// How often a rectangle is drawn; `what` names the rectangles in its text.
ir::Attribute MostAttempts(std::string_view what);

// Sides of a rectangle in whole pixels, which MXNet rounds half to even.
int64_t WholeHeight(double area, double ratio);
int64_t WholeWidth(int64_t height, double ratio);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_IMAGE_AREA_AND_RATIO_H_
