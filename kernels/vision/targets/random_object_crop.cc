#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/vision/image/area_and_ratio.h"
#include "kernels/vision/targets/crop_among_boxes.h"

namespace headrace {
namespace {

// Smaller parts and boxes, in pixels, count as none.
constexpr double kLeastArea = 2;

class RandomObjectCrop : public CropAmongBoxes {
 public:
  RandomObjectCrop(const ir::Attributes& attributes, const AreaAndRatio& ranges)
      : least_covered_(attributes.Float("min_object_covered")),
        ranges_(ranges),
        least_kept_(attributes.Float("min_eject_coverage")),
        attempts_(attributes.Int("max_attempts")) {}
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const AreaAndRatio ranges, AreaAndRatio::Of(attributes));
    return std::make_unique<RandomObjectCrop>(attributes, ranges);
  }

 protected:
  std::optional<CropWithBoxes> Draw(RowRandom& random, const CanvasBoxes& boxes) const override {
    for (int64_t attempt = 0; attempt < attempts_; ++attempt) {
      const std::optional<Window> window = Proposed(random, boxes.height(), boxes.width());
      if (!window.has_value() || !Covers(*window, boxes)) continue;
      CropWithBoxes crop = {*window, Kept(*window, boxes)};
      if (std::find(crop.keep.begin(), crop.keep.end(), true) != crop.keep.end()) return crop;
    }
    return std::nullopt;
  }

 private:
  // MXNet's way to whole pixels: the height is uniform between what the least and the greatest area give.
  std::optional<Window> Proposed(RowRandom& random, int64_t height, int64_t width) const {
    const double whole = static_cast<double>(height) * static_cast<double>(width);
    const double least = ranges_.area.low * whole;
    const double most = ranges_.area.high * whole;
    const double ratio = random.Uniform(ranges_.ratio.low, ranges_.ratio.high);
    const auto across = [ratio](int64_t down) { return WholeWidth(down, ratio); };
    int64_t most_high = WholeHeight(most, ratio);
    if (across(most_high) > width) most_high = static_cast<int64_t>((static_cast<double>(width) + 0.4999999) / ratio);
    most_high = std::min(most_high, height);
    int64_t high = std::min(WholeHeight(least, ratio), most_high);
    high += static_cast<int64_t>(random.Below(static_cast<uint64_t>(most_high - high + 1)));
    const auto area = [&](int64_t down) { return static_cast<double>(down) * static_cast<double>(across(down)); };
    if (area(high) < least) ++high;
    if (area(high) > most) --high;
    const int64_t wide = across(high);
    if (area(high) < least || area(high) > most || high > height || wide > width) return std::nullopt;
    Window window = {.height = high, .width = wide};
    window.top = static_cast<int64_t>(random.Below(static_cast<uint64_t>(height - high + 1)));
    window.left = static_cast<int64_t>(random.Below(static_cast<uint64_t>(width - wide + 1)));
    return window;
  }

  // Whether it holds a part of a box, and enough of each box of which it holds any.
  bool Covers(const Window& window, const CanvasBoxes& boxes) const {
    if (static_cast<double>(window.height) * static_cast<double>(window.width) < kLeastArea) return false;
    bool any = false;
    for (const Box& box : boxes.boxes()) {
      if (AreaOf(box) <= kLeastArea) continue;
      const double covered = AreaInside(box, window) / AreaOf(box);
      if (covered <= 0) continue;
      if (covered <= least_covered_) return false;
      any = true;
    }
    return any;
  }

  std::vector<bool> Kept(const Window& window, const CanvasBoxes& boxes) const {
    std::vector<bool> keep;
    for (const Box& box : boxes.boxes()) {
      const double inside = AreaInside(box, window);
      keep.push_back(inside > 0 && inside > least_kept_ * AreaOf(box));
    }
    return keep;
  }

  double least_covered_;
  AreaAndRatio ranges_;
  double least_kept_;
  int64_t attempts_;
};

ir::Attribute ShareRandomObjectCrop(const char* name, const char* doc, const char* value) {
  return {
      .name = name, .type = ir::AttributeType::kFloat, .doc = doc, .default_value = value, .minimum = 0, .maximum = 1};
}

const AmongBoxesRegistration random_object_crop_registration{
    {.name = "RandomObjectCrop",
     .summary = "Crops a random part that holds objects, and removes those of which little is left.",
     .doc =
         "For a map with hr.boxes(…): takes numbers of any type, of shape (H, W, C) or (H, W), and gives a part of it. "
         "MXNet's DetRandomCropAug: draws up to `max_attempts` parts, whose width over height is uniform in "
         "`aspect_ratio_range`, whose height is uniform between those that `area_range` gives, and whose place is "
         "uniform. The first is taken that holds more than `min_object_covered` of each box of which it holds any, one "
         "at least; boxes of up to 2 square pixels do not count. Boxes are clamped to the part; those of which no more "
         "than `min_eject_coverage` is left are removed with their labels and masks, and a part that leaves none is "
         "not taken. Without a part, and without boxes, the image stays as it is.\n"
         "Errors: a map without hr.boxes(…), another rank, bytes or strings.",
     .attributes = {ShareRandomObjectCrop("min_object_covered",
                                          "The share of each box that is touched, which must be in the part.", "0.1"),
                    AspectRatioRange(),
                    AreaRange("The least and the greatest share of the image's area.", "(0.05, 1.0)", 0),
                    ShareRandomObjectCrop("min_eject_coverage",
                                          "A box stays if more than this share of it is in the part.", "0.3"),
                    MostAttempts("parts")},
     .example = "V.RandomObjectCrop(min_object_covered=0.5, area_range=(0.3, 0.9))"},
    RandomObjectCrop::Make};

}  // namespace
}  // namespace headrace
