#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/geometry/warp_kernel.h"

namespace headrace {
namespace {

// What a RandomAffineResize draws from.
struct RandomAffineResizeRanges {
  Interval degrees;
  Interval shear;
  Interval scale;
  Interval ratio;
};

absl::StatusOr<RandomAffineResizeRanges> RangesOfRandomAffineResize(const ir::Attributes& attributes) {
  RandomAffineResizeRanges ranges;
  HEADRACE_ASSIGN_OR_RETURN(ranges.degrees, SymmetricInterval(attributes, "degrees"));
  HEADRACE_ASSIGN_OR_RETURN(ranges.shear, SymmetricInterval(attributes, "shear"));
  HEADRACE_ASSIGN_OR_RETURN(ranges.scale, Interval::Of(attributes, "scale"));
  HEADRACE_ASSIGN_OR_RETURN(ranges.ratio, Interval::Of(attributes, "ratio"));
  return ranges;
}

// Of a side of the result, in pixels.
class Bounds {
 public:
  explicit Bounds(const ir::Attributes& attributes) : least_(static_cast<double>(attributes.Int("min_size"))) {
    if (!attributes.IsNone("max_size")) most_ = static_cast<double>(attributes.Int("max_size"));
  }
  // With its fraction, which the result does not have.
  double Of(double scaled) const { return std::max(least_, std::min(scaled, most_.value_or(scaled))); }

 private:
  double least_;
  std::optional<double> most_;
};

// The numbers that a row has drawn.
struct Drawn {
  double angle;  // degrees, counter-clockwise
  double shear;
  double scale;
  double ratio;
};

// From a result of this size to an image of that one; their middles coincide.
PlaneMap InverseOf(const Drawn& drawn, const PlanePoint& to, const PlanePoint& from) {
  const double radians = drawn.angle / 180 * std::numbers::pi;
  const double a = std::cos(radians);
  const double b = std::sin(radians);
  const double wide = 2 * drawn.scale / (1 + drawn.ratio);
  const double high = drawn.ratio * wide;
  // From the image to the result.
  const double xx = wide * a - drawn.shear * b * high;
  const double xy = wide * b + drawn.shear * a * high;
  const double yx = -b * high;
  const double yy = a * high;
  const double area = wide * high;
  PlaneMap map = {.m = {yy / area, -xy / area, 0, -yx / area, xx / area, 0}};
  map.m[2] = (from[0] - map.m[0] * to[0] - map.m[1] * to[1]) / 2;
  map.m[5] = (from[1] - map.m[3] * to[0] - map.m[4] * to[1]) / 2;
  return map;
}

class RandomAffineResize : public MapKernel {
 public:
  RandomAffineResize(const ir::Attributes& attributes, const RandomAffineResizeRanges& ranges)
      : MapKernel(attributes), ranges_(ranges), bounds_(attributes) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const RandomAffineResizeRanges ranges, RangesOfRandomAffineResize(attributes));
    return std::make_unique<RandomAffineResize>(attributes, ranges);
  }

 protected:
  // Draws the same numbers whatever the attributes are.
  std::optional<SizedMap> Draw(RowRandom& random, int64_t height, int64_t width) const override {
    const auto draw = [&random](const Interval& range) { return random.Uniform(range.low, range.high); };
    Drawn drawn = {};
    drawn.angle = draw(ranges_.degrees);
    drawn.shear = draw(ranges_.shear);
    drawn.scale = draw(ranges_.scale);
    drawn.ratio = draw(ranges_.ratio);
    const PlanePoint from = {static_cast<double>(width), static_cast<double>(height)};
    const PlanePoint to = {bounds_.Of(drawn.scale * from[0]), bounds_.Of(drawn.scale * from[1])};
    return SizedMap{InverseOf(drawn, to, from), static_cast<int64_t>(to[1]), static_cast<int64_t>(to[0])};
  }

 private:
  RandomAffineResizeRanges ranges_;
  Bounds bounds_;
};

// The size is known where it is not drawn.
absl::StatusOr<std::vector<ir::ColumnType>> InferRandomAffineResize(const ir::Attributes& attributes,
                                                                    absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(const RandomAffineResizeRanges ranges, RangesOfRandomAffineResize(attributes));
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, InferWarped(attributes, inputs[0], false));
  if (!inputs[0].shape.has_value() || ranges.scale.low != ranges.scale.high) return std::vector{std::move(type)};
  const auto side = [&](size_t axis) {
    const int64_t before = (*inputs[0].shape)[axis];
    if (before == ir::kUnknownDim) return ir::kUnknownDim;
    return static_cast<int64_t>(Bounds(attributes).Of(ranges.scale.low * static_cast<double>(before)));
  };
  return std::vector{WithSize(type, side(0), side(1))};
}

ir::Attribute Side(const char* name, const char* doc, std::string default_value) {
  return {.name = name,
          .doc = doc,
          .default_value = default_value,
          .nullable = default_value == "None",
          .minimum = 1,
          .maximum = 65535};
}

ir::Declaration DeclaredRandomAffineResize() {
  ir::Declaration declaration = WarpDeclaration(
      "RandomAffineResize", "Turns, shears, stretches and resizes an image at random.",
      "Each number is drawn uniformly. A point is turned about the middle, then x and y are multiplied by "
      "2 scale ÷ (1 + ratio) and ratio times that, and then x grows by shear times y. The result has scale times the "
      "image's sides, cut off to whole pixels and to min_size and max_size, which cut off the image or leave a border "
      "of the fill: MXNet's max_shear_ratio, random_scale, aspect_ratio and img_size.",
      {{.name = "degrees",
        .type = ir::AttributeType::kFloats,
        .doc = "The least and the greatest angle in degrees, counter-clockwise; one number x: from -x to x.",
        .default_value = "(0.0, 0.0)",
        .minimum = -1e6,
        .maximum = 1e6,
        .lengths = {1, 2}},
       {.name = "shear",
        .type = ir::AttributeType::kFloats,
        .doc = "The least and the greatest shear, as a part of the height; one number x: from -x to x.",
        .default_value = "(0.0, 0.0)",
        .minimum = -100,
        .maximum = 100,
        .lengths = {1, 2}},
       {.name = "scale",
        .type = ir::AttributeType::kFloats,
        .doc = "The least and the greatest factor of the sides.",
        .default_value = "(1.0, 1.0)",
        .minimum = 0.001,
        .maximum = 100,
        .lengths = {2}},
       {.name = "ratio",
        .type = ir::AttributeType::kFloats,
        .doc = "The least and the greatest factor of the height over that of the width; their mean is the scale.",
        .default_value = "(1.0, 1.0)",
        .minimum = 0.001,
        .maximum = 1000,
        .lengths = {2}},
       Side("min_size", "The least side of the result.", "1"),
       Side("max_size", "The greatest side of the result; None: as the scale gives it.", "None")},
      "bilinear");
  declaration.traits.random = true;
  declaration.infer_kernel = InferRandomAffineResize;
  declaration.example = "V.RandomAffineResize(degrees=10, shear=0.1, scale=(0.8, 1.2))";
  declaration.sample.attributes = {{"degrees", "10.0"}, {"shear", "0.1"}, {"scale", "(0.7, 0.7)"}};
  return declaration;
}

const MovingRegistration random_affine_resize_registration{DeclaredRandomAffineResize(), RandomAffineResize::Make};

}  // namespace
}  // namespace headrace
