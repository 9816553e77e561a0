#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/vision/image/resized_crop_box.h"
#include "kernels/vision/targets/crop_among_boxes.h"

namespace headrace {
namespace {

struct RandomConstrainedCropShare {
  Interval range;
  bool restricts() const { return range.low > 0 || range.high < 1; }
  bool Allows(double share) const { return !restricts() || (share >= range.low && share <= range.high); }
};

struct Sampler {
  Interval scale;
  Interval ratio;
  RandomConstrainedCropShare overlap;          // intersection over union
  RandomConstrainedCropShare sample_coverage;  // intersection over the part
  RandomConstrainedCropShare object_coverage;  // intersection over the box
  int64_t trials = 0;
};

constexpr std::array<const char*, 5> kRanges = {"crop_scales", "crop_aspect_ratios", "crop_overlaps",
                                                "crop_sample_coverages", "crop_object_coverages"};

// Lists of one element, which all samplers share, or of one for each.
class Lists {
 public:
  static absl::StatusOr<Lists> Of(const ir::Attributes& attributes) {
    Lists lists;
    for (const char* const range : kRanges) {
      for (const char* const end : {"min_", "max_"}) {
        HEADRACE_RETURN_IF_ERROR(lists.Add(Cat(end, range), attributes.Floats(Cat(end, range))));
      }
    }
    const std::vector<int64_t> trials = attributes.Ints("max_crop_trials");
    HEADRACE_RETURN_IF_ERROR(lists.Add("max_crop_trials", {trials.begin(), trials.end()}));
    return lists;
  }

  size_t samplers() const { return samplers_; }
  double At(size_t list, size_t sampler) const { return lists_[list][lists_[list].size() == 1 ? 0 : sampler]; }

 private:
  absl::Status Add(const std::string& name, std::vector<double> list) {
    const bool fits = list.size() == 1 || (list.size() > 1 && (samplers_ == 1 || list.size() == samplers_));
    if (!fits) {
      return GraphError(name, " has ", list.size(), " numbers, and there are ", samplers_,
                        " samplers; give one number, or one for each");
    }
    samplers_ = std::max(samplers_, list.size());
    lists_.push_back(std::move(list));
    return absl::OkStatus();
  }

  size_t samplers_ = 1;
  std::vector<std::vector<double>> lists_;
};

absl::StatusOr<std::vector<Sampler>> SamplersOf(const ir::Attributes& attributes) {
  HEADRACE_ASSIGN_OR_RETURN(const Lists lists, Lists::Of(attributes));
  std::vector<Sampler> samplers(lists.samplers());
  for (size_t i = 0; i < samplers.size(); ++i) {
    Sampler& sampler = samplers[i];
    const std::array<Interval*, 5> ranges = {&sampler.scale, &sampler.ratio, &sampler.overlap.range,
                                             &sampler.sample_coverage.range, &sampler.object_coverage.range};
    for (size_t range = 0; range < ranges.size(); ++range) {
      *ranges[range] = {lists.At(2 * range, i), lists.At(2 * range + 1, i)};
      if (ranges[range]->low <= ranges[range]->high) continue;
      return GraphError("min_", kRanges[range], " is ", ranges[range]->low, ", above max_", kRanges[range],
                        ", which is ", ranges[range]->high, "; exchange them");
    }
    sampler.trials = static_cast<int64_t>(lists.At(2 * ranges.size(), i));
  }
  return samplers;
}

class RandomConstrainedCrop : public CropAmongBoxes {
 public:
  RandomConstrainedCrop(const ir::Attributes& attributes, std::vector<Sampler> samplers)
      : samplers_(std::move(samplers)),
        by_middle_(attributes.String("emit_mode") == "center"),
        least_inside_(attributes.Float("emit_overlap_thresh")) {}
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(std::vector<Sampler> samplers, SamplersOf(attributes));
    return std::make_unique<RandomConstrainedCrop>(attributes, std::move(samplers));
  }

 protected:
  std::optional<CropWithBoxes> Draw(RowRandom& random, const CanvasBoxes& boxes) const override {
    for (const size_t number : InRandomOrder(random)) {
      const Sampler& sampler = samplers_[number];
      for (int64_t trial = 0; trial < sampler.trials; ++trial) {
        const Window window = Proposed(random, sampler, boxes);
        if (window.height == 0 || window.width == 0 || !Allows(sampler, window, boxes)) continue;
        CropWithBoxes crop = {window, Kept(window, boxes)};
        const bool keeps_any = std::find(crop.keep.begin(), crop.keep.end(), true) != crop.keep.end();
        if (keeps_any || crop.keep.empty()) return crop;
      }
    }
    return std::nullopt;
  }

 private:
  std::vector<size_t> InRandomOrder(RowRandom& random) const {
    std::vector<size_t> order(samplers_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
    return order;
  }

  static Window Proposed(RowRandom& random, const Sampler& sampler, const CanvasBoxes& boxes) {
    const auto height = static_cast<double>(boxes.height());
    const auto width = static_cast<double>(boxes.width());
    // The least above 0, so that nothing is divided by 0.
    const double scale = random.Uniform(sampler.scale.low, sampler.scale.high) + 1e-12;
    const double least = std::max(sampler.ratio.low * height / width, scale * scale);
    const double most = std::min(sampler.ratio.high * height / width, 1 / (scale * scale));
    const double ratio = std::sqrt(random.Uniform(least, most));
    const double across = std::min(1.0, scale * ratio);
    const double down = std::min(1.0, scale / ratio);
    const auto pixels = [](double share) { return static_cast<int64_t>(share); };
    return {.top = pixels(random.Uniform(0, 1 - down) * height),
            .left = pixels(random.Uniform(0, 1 - across) * width),
            .height = pixels(down * height),
            .width = pixels(across * width)};
  }

  static bool Allows(const Sampler& sampler, const Window& window, const CanvasBoxes& boxes) {
    if (boxes.boxes().empty()) return true;
    const double area = static_cast<double>(window.width) * static_cast<double>(window.height);
    return std::any_of(boxes.boxes().begin(), boxes.boxes().end(), [&](const Box& box) {
      const double common = AreaInside(box, window);
      const double own = AreaOf(box);
      return own > 0 && sampler.overlap.Allows(common / (own + area - common)) &&
             sampler.sample_coverage.Allows(common / area) && sampler.object_coverage.Allows(common / own);
    });
  }

  std::vector<bool> Kept(const Window& window, const CanvasBoxes& boxes) const {
    std::vector<bool> keep;
    for (const Box& box : boxes.boxes()) {
      const double inside = AreaInside(box, window);
      keep.push_back(inside > 0 && (by_middle_ ? HoldsMiddle(window, box) : inside > least_inside_ * AreaOf(box)));
    }
    return keep;
  }

  static bool HoldsMiddle(const Window& window, const Box& box) {
    const double x = (box.left + box.right) / 2 - static_cast<double>(window.left);
    const double y = (box.top + box.bottom) / 2 - static_cast<double>(window.top);
    return x >= 0 && y >= 0 && x <= static_cast<double>(window.width) && y <= static_cast<double>(window.height);
  }

  std::vector<Sampler> samplers_;
  bool by_middle_;
  double least_inside_;
};

ir::Attribute Numbers(const char* name, const char* doc, const char* value, double minimum, double maximum) {
  return {.name = name,
          .type = ir::AttributeType::kFloats,
          .doc = doc,
          .default_value = value,
          .minimum = minimum,
          .maximum = maximum,
          .length = ir::ListLength{}};
}

const AmongBoxesRegistration random_constrained_crop_registration{
    {.name = "RandomConstrainedCrop",
     .summary = "Crops a random part that one of several samplers allows, and removes the objects outside.",
     .doc = "For a map with hr.boxes(…): takes numbers of any type, of shape (H, W, C) or (H, W), and gives a part of "
            "it: the crop of MXNet's ImageDetRecordIter. The samplers are tried in random order. Each draws up to "
            "`max_crop_trials` parts. For a part it draws a scale s, then a ratio r: uniform between the bounds of the "
            "aspect ratio, divided by the image's aspect ratio, but never outside s² … 1 / s². The part's width is s "
            "√r of the image's, its height s / √r, both cut to whole pixels; its place is uniform. A part is taken if"
            " one box satisfies the constraints on overlap and coverages, of which a range 0 … 1 is none, and one box "
            "remains; without boxes every part is. What remains is clamped to the part, the other boxes are removed "
            "with their labels and masks. If no sampler finds a part, the image stays as it is. Each list has one "
            "number, or one for each sampler.\n"
            "Errors: a map without hr.boxes(…), lists of other lengths, another rank, bytes or strings.",
     .attributes = {Numbers("min_crop_scales", "The least scale.", "(0.0,)", 0, 1),
                    Numbers("max_crop_scales", "The greatest scale.", "(1.0,)", 0, 1),
                    Numbers("min_crop_aspect_ratios", "The least width over height.", "(1.0,)", 1e-3, 1e3),
                    Numbers("max_crop_aspect_ratios", "The greatest width over height.", "(1.0,)", 1e-3, 1e3),
                    Numbers("min_crop_overlaps", "The least intersection over union with a box.", "(0.0,)", 0, 1),
                    Numbers("max_crop_overlaps", "The greatest intersection over union.", "(1.0,)", 0, 1),
                    Numbers("min_crop_sample_coverages", "The least share of the part that a box covers.", "(0.0,)", 0,
                            1),
                    Numbers("max_crop_sample_coverages", "The greatest share of the part.", "(1.0,)", 0, 1),
                    Numbers("min_crop_object_coverages", "The least share of a box that is in the part.", "(0.0,)", 0,
                            1),
                    Numbers("max_crop_object_coverages", "The greatest share of a box.", "(1.0,)", 0, 1),
                    {.name = "max_crop_trials",
                     .type = ir::AttributeType::kInts,
                     .doc = "The most parts that a sampler draws.",
                     .default_value = "(25,)",
                     .minimum = 1,
                     .maximum = 10000,
                     .length = ir::ListLength{}},
                    {.name = "emit_mode",
                     .type = ir::AttributeType::kString,
                     .doc = "center: a box remains if its middle is in the part; overlap: if more than "
                            "emit_overlap_thresh of it is.",
                     .default_value = "'center'",
                     .choices = {"center", "overlap"}},
                    {.name = "emit_overlap_thresh",
                     .type = ir::AttributeType::kFloat,
                     .doc = "The share of a box for emit_mode='overlap'.",
                     .default_value = "0.3",
                     .minimum = 0,
                     .maximum = 1}},
     .example = "V.RandomConstrainedCrop(min_crop_scales=(0.3,), min_crop_overlaps=(0.1, 0.5, 0.9))",
     .sample = {.attributes = {{"min_crop_scales", "(0.3,)"}}}},
    RandomConstrainedCrop::Make};

}  // namespace
}  // namespace headrace
