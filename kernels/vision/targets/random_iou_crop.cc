#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/vision/image/resized_crop_box.h"
#include "kernels/vision/targets/crop_among_boxes.h"

namespace headrace {
namespace {

// Torchvision tries for ever.
constexpr int kMostRounds = 100;

class RandomIoUCrop : public CropAmongBoxes {
 public:
  RandomIoUCrop(const ir::Attributes& attributes, Interval scale, Interval ratio)
      : scale_(scale),
        ratio_(ratio),
        options_(attributes.Floats("sampler_options")),
        trials_(attributes.Int("trials")) {}
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    const Interval scale = {attributes.Float("min_scale"), attributes.Float("max_scale")};
    const Interval ratio = {attributes.Float("min_aspect_ratio"), attributes.Float("max_aspect_ratio")};
    if (scale.low > scale.high) {
      return GraphError("min_scale is ", scale.low, ", above max_scale, which is ", scale.high, "; exchange them");
    }
    if (ratio.low > ratio.high) {
      return GraphError("min_aspect_ratio is ", ratio.low, ", above max_aspect_ratio, which is ", ratio.high,
                        "; exchange them");
    }
    if (attributes.Floats("sampler_options").empty()) {
      return GraphError("sampler_options is empty; give one number at least, where 1.0 leaves the image as it is");
    }
    return std::make_unique<RandomIoUCrop>(attributes, scale, ratio);
  }

 protected:
  bool marks() const override { return true; }

  std::optional<CropWithBoxes> Draw(RowRandom& random, const CanvasBoxes& boxes) const override {
    // No box can be in a part of the image.
    if (boxes.boxes().empty()) return std::nullopt;
    for (int round = 0; round < kMostRounds; ++round) {
      const double least = options_[random.Below(options_.size())];
      if (least >= 1) return std::nullopt;
      for (int64_t trial = 0; trial < trials_; ++trial) {
        const Window window = Proposed(random, boxes);
        CropWithBoxes crop = {window, Inside(window, boxes)};
        if (Allows(crop, boxes, least)) return crop;
      }
    }
    return std::nullopt;
  }

 private:
  // Empty: the ratio of its sides is not allowed.
  Window Proposed(RowRandom& random, const CanvasBoxes& boxes) const {
    const auto part = [](int64_t whole, double by) { return static_cast<int64_t>(static_cast<double>(whole) * by); };
    Window window;
    window.width = part(boxes.width(), random.Uniform(scale_.low, scale_.high));
    window.height = part(boxes.height(), random.Uniform(scale_.low, scale_.high));
    if (window.width == 0 || window.height == 0) return {};
    const double ratio = static_cast<double>(window.width) / static_cast<double>(window.height);
    if (ratio < ratio_.low || ratio > ratio_.high) return {};
    window.left = part(boxes.width() - window.width, random.Uniform());
    window.top = part(boxes.height() - window.height, random.Uniform());
    return window;
  }

  static std::vector<bool> Inside(const Window& window, const CanvasBoxes& boxes) {
    std::vector<bool> inside;
    const auto left = static_cast<double>(window.left);
    const auto top = static_cast<double>(window.top);
    for (const Box& box : boxes.boxes()) {
      const double x = 0.5 * (box.left + box.right) - left;
      const double y = 0.5 * (box.top + box.bottom) - top;
      inside.push_back(x > 0 && y > 0 && x < static_cast<double>(window.width) &&
                       y < static_cast<double>(window.height));
    }
    return inside;
  }

  // Whether a box whose middle is in it overlaps it as much as is asked for.
  static bool Allows(const CropWithBoxes& crop, const CanvasBoxes& boxes, double least) {
    const double area = static_cast<double>(crop.window.width) * static_cast<double>(crop.window.height);
    for (size_t i = 0; i < crop.keep.size(); ++i) {
      if (!crop.keep[i]) continue;
      const Box& box = boxes.boxes()[i];
      const double common = AreaInside(box, crop.window);
      if (common / (AreaOf(box) + area - common) >= least) return true;
    }
    return false;
  }

  Interval scale_;
  Interval ratio_;
  std::vector<double> options_;
  int64_t trials_;
};

ir::Attribute Number(const char* name, const char* doc, const char* value, double maximum) {
  return {.name = name,
          .type = ir::AttributeType::kFloat,
          .doc = doc,
          .default_value = value,
          .minimum = 0,
          .maximum = maximum};
}

const AmongBoxesRegistration random_iou_crop_registration{
    {.name = "RandomIoUCrop",
     .summary = "Crops a random part that overlaps a box as much as is drawn.",
     .doc =
         "For a map with hr.boxes(…): takes numbers of any type, of shape (H, W, C) or (H, W), and gives a part of it. "
         "Torchvision's RandomIoUCrop, from SSD: draws one of `sampler_options`, a least intersection over union, "
         "where 1 and more leave all as it is; then up to `trials` parts, whose width and height are shares of the "
         "image's, uniform between `min_scale` and `max_scale`, and whose place is uniform. A part is taken if its"
         " width over height is allowed, and of the boxes whose middle is inside it one overlaps it so much; without"
         " one the option is drawn anew, at most 100 times in all, and then the image stays as it is. Boxes are "
         "clamped to the part, and those whose middle is outside become (0, 0, 0, 0), which V.SanitizeBoxes removes.\n"
         "Errors: a map without hr.boxes(…), another rank, bytes or strings.",
     .attributes = {Number("min_scale", "The least share of a side.", "0.3", 1),
                    Number("max_scale", "The greatest share of a side.", "1.0", 1),
                    Number("min_aspect_ratio", "The least width over height.", "0.5", 1e6),
                    Number("max_aspect_ratio", "The greatest width over height.", "2.0", 1e6),
                    {.name = "sampler_options",
                     .type = ir::AttributeType::kFloats,
                     .doc = "The least intersections over union, one of which is drawn.",
                     .default_value = "(0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)",
                     .minimum = 0,
                     .length = ir::ListLength{}},
                    {.name = "trials",
                     .doc = "The most parts that are drawn for an option.",
                     .default_value = "40",
                     .minimum = 1,
                     .maximum = 10000}},
     .example = "V.RandomIoUCrop(min_scale=0.3, sampler_options=(0.0, 0.5, 1.0))",
     .sample = {.attributes = {{"sampler_options", "(0.0,)"}}}},
    RandomIoUCrop::Make};

}  // namespace
}  // namespace headrace
