// `BoxFormat` says how users write boxes: corners or a corner and a size, in pixels or as parts of the image's sides.
// Threads: plain values; safe to read from any thread.
#ifndef HEADRACE_KERNELS_VISION_TARGETS_BOX_FORMAT_H_
#define HEADRACE_KERNELS_VISION_TARGETS_BOX_FORMAT_H_

#include <vector>

#include "absl/status/status.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "kernels/vision/codecs/decode/size_of_image.h"
#include "kernels/vision/geometry/canvas_boxes.h"

namespace headrace {

class BoxFormat {
 public:
  // From the attributes below.
  static BoxFormat Of(const ir::Attributes& attributes);

  // kGraph for whole numbers that are parts of sides.
  absl::Status CheckDType(DType dtype) const;
  // How boxes of this format and dtype lie on their canvas: without loss.
  CanvasBoxes::Unit UnitOf(DType dtype) const;
  // From four numbers in this format, and back. Halves of whole numbers are rounded down, as torchvision does.
  Box ToCorners(const Box& given, const ImageSize& size) const;
  Box FromCorners(const Box& corners, const ImageSize& size, DType dtype) const;

 private:
  enum class Kind { kCorners, kCornerAndSize, kMiddleAndSize };
  Kind kind_ = Kind::kCorners;
  bool relative_ = false;
};

std::vector<ir::Attribute> BoxFormatAttributes();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_TARGETS_BOX_FORMAT_H_
