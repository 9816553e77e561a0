#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/geometry/resize.h"
#include "kernels/vision/image/resized_crop_box.h"
#include "kernels/vision/image/size_attribute.h"

namespace headrace {
namespace {

struct Sides {
  double height;
  double width;
};

// Resizes to sides drawn for each image, which keep the ratio.
class DrawnResize : public GeometricKernel {
 public:
  explicit DrawnResize(const ir::Attributes& attributes) : resizing_(Resizing::Of(attributes)) {}

  PixelTypes accepted() const final { return resizing_.accepted(); }
  absl::Status Plan(RowRandom& random, MovePlan& plan) const final {
    const Sides sides = {static_cast<double>(plan.height()), static_cast<double>(plan.width())};
    const Sides drawn = Draw(sides, random);
    if (drawn.height > kMostSide || drawn.width > kMostSide) {
      return GraphError("an image of height ", plan.height(), " and width ", plan.width(), " would become ",
                        static_cast<int64_t>(drawn.height), " × ", static_cast<int64_t>(drawn.width),
                        ", but a side has at most 65535 pixels; give smaller sizes, or cut the image first");
    }
    const auto whole = [](double side) { return static_cast<int64_t>(std::max(side, 1.0)); };
    plan.Resize(whole(drawn.height), whole(drawn.width), resizing_);
    return absl::OkStatus();
  }

 protected:
  // Fractions are cut off.
  virtual Sides Draw(const Sides& sides, RowRandom& random) const = 0;

 private:
  Resizing resizing_;
};

Sides Scaled(const Sides& sides, double by) { return {sides.height * by, sides.width * by}; }

absl::Status CheckSides(const ir::Attributes& attributes) {
  if (attributes.Int("min_size") < attributes.Int("max_size")) return absl::OkStatus();
  return GraphError("min_size must be less than max_size, which is never drawn; they are ", attributes.Int("min_size"),
                    " and ", attributes.Int("max_size"));
}

class RandomResize : public DrawnResize {
 public:
  explicit RandomResize(const ir::Attributes& attributes)
      : DrawnResize(attributes), low_(attributes.Int("min_size")), high_(attributes.Int("max_size")) {}
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_RETURN_IF_ERROR(CheckSides(attributes));
    return std::make_unique<RandomResize>(attributes);
  }

 protected:
  Sides Draw(const Sides& sides, RowRandom& random) const override {
    const auto drawn = static_cast<double>(low_ + static_cast<int64_t>(random.Below(high_ - low_)));
    // In this order, the shorter side has no fraction.
    if (sides.height <= sides.width) return {drawn, std::floor(drawn * sides.width / sides.height)};
    return {std::floor(drawn * sides.height / sides.width), drawn};
  }

 private:
  int64_t low_;
  int64_t high_;
};

class RandomShortestSize : public DrawnResize {
 public:
  explicit RandomShortestSize(const ir::Attributes& attributes)
      : DrawnResize(attributes), sizes_(attributes.Ints("min_size")) {
    if (!attributes.IsNone("max_size")) longest_ = static_cast<double>(attributes.Int("max_size"));
  }
  static absl::Status Check(const ir::Attributes& attributes) {
    if (!attributes.Ints("min_size").empty()) return absl::OkStatus();
    return GraphError("min_size is empty; give at least one length");
  }
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_RETURN_IF_ERROR(Check(attributes));
    return std::make_unique<RandomShortestSize>(attributes);
  }

 protected:
  Sides Draw(const Sides& sides, RowRandom& random) const override {
    const auto size = static_cast<double>(sizes_[random.Below(sizes_.size())]);
    const double by = size / std::min(sides.height, sides.width);
    return Scaled(sides, std::min(by, longest_ / std::max(sides.height, sides.width)));
  }

 private:
  std::vector<int64_t> sizes_;
  double longest_ = std::numeric_limits<double>::infinity();
};

class ScaleJitter : public DrawnResize {
 public:
  ScaleJitter(const ir::Attributes& attributes, Interval range)
      : DrawnResize(attributes), target_(attributes.Ints("target_size")), range_(range) {}
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const Interval range, Interval::Of(attributes, "scale_range"));
    return std::make_unique<ScaleJitter>(attributes, range);
  }

 protected:
  Sides Draw(const Sides& sides, RowRandom& random) const override {
    const double fits =
        std::min(static_cast<double>(target_[0]) / sides.height, static_cast<double>(target_[1]) / sides.width);
    return Scaled(sides, fits * random.Uniform(range_.low, range_.high));
  }

 private:
  std::vector<int64_t> target_;
  Interval range_;
};

template <typename Check>
ir::InferKernel InferAfter(Check check) {
  return [check](const ir::Attributes& attributes,
                 absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    HEADRACE_RETURN_IF_ERROR(check(attributes));
    HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], Resizing::Of(attributes).accepted()));
    return std::vector{WithSize(type, ir::kUnknownDim, ir::kUnknownDim)};
  };
}

ir::Declaration DeclaredRandomResize(std::string name, std::string summary, std::string says,
                                     std::vector<ir::Attribute> own) {
  ir::Declaration declaration;
  declaration.name = std::move(name);
  declaration.summary = std::move(summary);
  declaration.doc =
      Cat("Takes uint8, uint16 or float32 of shape (H, W, C) or (H, W) and gives the same "
          "dtype with another height and width, in the ratio of the image's. ",
          says,
          " Pixels are those of Resize.\nErrors: another dtype or rank, an image without pixels, and a side that would "
          "exceed 65,535.");
  declaration.attributes = std::move(own);
  declaration.attributes.push_back(InterpolationAttribute());
  declaration.attributes.push_back(AntialiasAttribute());
  declaration.traits = {.random = true, .geometric = true};
  declaration.python_module = "vision";
  declaration.sample.inputs = {ir::SampleInput::kImage};
  return declaration;
}

ir::Attribute SideAttribute(std::string name, std::string doc) {
  return {.name = std::move(name), .doc = std::move(doc), .minimum = 1, .maximum = kMostSide};
}

ir::Declaration OfResize() {
  ir::Declaration declaration = DeclaredRandomResize(
      "RandomResize", "Resizes the shorter side of an image to a random length.",
      "The length is a whole number from `min_size` to `max_size` - 1, all equally likely: torchvision's "
      "RandomResize.",
      {SideAttribute("min_size", "The least length of the shorter side."),
       SideAttribute("max_size", "The length at which the range ends, itself left out.")});
  declaration.infer_kernel = InferAfter(CheckSides);
  declaration.example = "V.RandomResize(224, 288)";
  declaration.sample.attributes = {{"min_size", "20"}, {"max_size", "21"}};
  return declaration;
}

ir::Declaration OfShortestSize() {
  ir::Attribute sizes = SideAttribute("min_size", "The lengths of the shorter side from which one is drawn.");
  sizes.type = ir::AttributeType::kInts;
  sizes.length = ir::ListLength{};
  ir::Attribute longest = SideAttribute("max_size", "The most that the longer side may be; None: anything.");
  longest.default_value = "None";
  longest.nullable = true;
  ir::Declaration declaration = DeclaredRandomResize(
      "RandomShortestSize", "Resizes the shorter side of an image to a length drawn from some.",
      "All lengths are equally likely; the image becomes smaller than that where its longer side would exceed "
      "`max_size`; fractions are cut off: torchvision's RandomShortestSize.",
      {sizes, longest});
  declaration.infer_kernel = InferAfter(RandomShortestSize::Check);
  declaration.example = "V.RandomShortestSize((480, 512, 544), max_size=1333)";
  declaration.sample.attributes = {{"min_size", "(20,)"}, {"max_size", "24"}};
  return declaration;
}

ir::Declaration OfScaleJitter() {
  ir::Declaration declaration =
      DeclaredRandomResize("ScaleJitter", "Scales an image by a random factor of the size that fits a target.",
                           "The size that just fits into `target_size` is multiplied by a number drawn uniformly from "
                           "`scale_range`; fractions "
                           "are cut off: torchvision's ScaleJitter.",
                           {{.name = "target_size",
                             .type = ir::AttributeType::kInts,
                             .doc = "(height, width), or one number for a square.",
                             .in_words = "a whole number or (height, width)",
                             .minimum = 1,
                             .maximum = kMostSide,
                             .lengths = {2},
                             .broadcast = true},
                            {.name = "scale_range",
                             .type = ir::AttributeType::kFloats,
                             .doc = "The least and the greatest factor.",
                             .default_value = "(0.1, 2.0)",
                             .minimum = 0,
                             .maximum = 100,
                             .exclusive_minimum = true,
                             .lengths = {2}}});
  declaration.infer_kernel =
      InferAfter([](const ir::Attributes& attributes) { return Interval::Of(attributes, "scale_range").status(); });
  declaration.example = "V.ScaleJitter((1024, 1024))";
  declaration.sample.attributes = {{"target_size", "(30, 30)"}, {"scale_range", "(1.0, 1.0)"}};
  return declaration;
}

const MovingRegistration random_resize{OfResize(), RandomResize::Make};
const MovingRegistration random_shortest_size{OfShortestSize(), RandomShortestSize::Make};
const MovingRegistration scale_jitter{OfScaleJitter(), ScaleJitter::Make};

}  // namespace
}  // namespace headrace
