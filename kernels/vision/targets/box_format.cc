#include "kernels/vision/targets/box_format.h"

#include <cmath>

#include "core/error.h"

namespace headrace {

BoxFormat BoxFormat::Of(const ir::Attributes& attributes) {
  BoxFormat format;
  const std::string& name = attributes.String("format");
  if (name == "xywh") format.kind_ = Kind::kCornerAndSize;
  if (name == "cxcywh") format.kind_ = Kind::kMiddleAndSize;
  format.relative_ = attributes.Bool("relative");
  return format;
}

absl::Status BoxFormat::CheckDType(DType dtype) const {
  if (!relative_ || dtype != DType::kInt64) return absl::OkStatus();
  return GraphError("the boxes are int64, which holds no parts of an image's sides; leave out relative=True");
}

CanvasBoxes::Unit BoxFormat::UnitOf(DType dtype) const {
  const bool halves = dtype == DType::kInt64 && kind_ == Kind::kMiddleAndSize;
  return halves ? CanvasBoxes::Unit::kHalves : CanvasBoxes::Unit::kPixels;
}

Box BoxFormat::ToCorners(const Box& given, const ImageSize& size) const {
  Box box = given;
  if (relative_) {
    const auto width = static_cast<double>(size.width);
    const auto height = static_cast<double>(size.height);
    box = {box.left * width, box.top * height, box.right * width, box.bottom * height};
  }
  // The last two are width and height.
  if (kind_ == Kind::kCornerAndSize) return {box.left, box.top, box.left + box.right, box.top + box.bottom};
  if (kind_ == Kind::kCorners) return box;
  const double left = box.left - box.right / 2;
  const double top = box.top - box.bottom / 2;
  return {left, top, left + box.right, top + box.bottom};
}

Box BoxFormat::FromCorners(const Box& corners, const ImageSize& size, DType dtype) const {
  Box box = corners;
  if (dtype == DType::kInt64 && kind_ != Kind::kMiddleAndSize) {
    box = {std::floor(box.left), std::floor(box.top), std::floor(box.right), std::floor(box.bottom)};
  }
  Box given = box;
  const double across = box.right - box.left;
  const double down = box.bottom - box.top;
  if (kind_ == Kind::kCornerAndSize) given = {box.left, box.top, across, down};
  if (kind_ == Kind::kMiddleAndSize) {
    given = {box.left + across / 2, box.top + down / 2, across, down};
    if (dtype == DType::kInt64) given = {std::floor(given.left), std::floor(given.top), across, down};
  }
  if (!relative_) return given;
  const auto width = static_cast<double>(size.width);
  const auto height = static_cast<double>(size.height);
  return {given.left / width, given.top / height, given.right / width, given.bottom / height};
}

std::vector<ir::Attribute> BoxFormatAttributes() {
  return {{.name = "format",
           .type = ir::AttributeType::kString,
           .doc = "xyxy: left, top, right, bottom; xywh: left, top, width, height; cxcywh: the middle, width, height.",
           .default_value = "'xyxy'",
           .choices = {"xyxy", "xywh", "cxcywh"}},
          {.name = "relative",
           .type = ir::AttributeType::kBool,
           .doc = "Whether numbers are parts of the image's width and height; else they are pixels.",
           .default_value = "False"}};
}

}  // namespace headrace
