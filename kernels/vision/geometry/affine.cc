#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/error.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/geometry/warp_kernel.h"

namespace headrace {
namespace {

class Affine : public MapKernel {
 public:
  explicit Affine(const ir::Attributes& attributes) : MapKernel(attributes) {
    const std::vector<double> translate = attributes.Floats("translate");
    const std::vector<double> shear = attributes.Floats("shear");
    parameters_ = {.angle = attributes.Float("angle"),
                   .translate = {translate[0], translate[1]},
                   .scale = attributes.Float("scale"),
                   .shear = {shear[0], shear.size() > 1 ? shear[1] : 0},
                   .center = CenterOf(attributes)};
  }

 protected:
  std::optional<SizedMap> Draw(RowRandom&, int64_t height, int64_t width) const override {
    return SizedMap{InverseOf(parameters_, height, width), height, width};
  }

 private:
  AffineParameters parameters_;
};

// What a RandomAffine draws from.
struct AffineRanges {
  Interval degrees;
  Interval scale = {1, 1};
  Interval shear_x;
  Interval shear_y;
  PlanePoint translate = {0, 0};  // the greatest, as parts of width and height
};

absl::StatusOr<AffineRanges> RangesOfAffine(const ir::Attributes& attributes) {
  AffineRanges ranges;
  HEADRACE_ASSIGN_OR_RETURN(ranges.degrees, SymmetricInterval(attributes, "degrees"));
  if (!attributes.IsNone("translate")) {
    const std::vector<double> translate = attributes.Floats("translate");
    ranges.translate = {translate[0], translate[1]};
  }
  if (!attributes.IsNone("scale")) {
    HEADRACE_ASSIGN_OR_RETURN(ranges.scale, Interval::Of(attributes, "scale"));
  }
  if (attributes.IsNone("shear")) return ranges;
  HEADRACE_ASSIGN_OR_RETURN(ranges.shear_x, SymmetricInterval(attributes, "shear"));
  const std::vector<double> shear = attributes.Floats("shear");
  if (shear.size() < 4) return ranges;
  ranges.shear_y = {shear[2], shear[3]};
  if (shear[2] > shear[3]) return GraphError("shear ends before it begins along y: (", shear[2], ", ", shear[3], ")");
  return ranges;
}

class RandomAffine : public MapKernel {
 public:
  RandomAffine(const ir::Attributes& attributes, const AffineRanges& ranges)
      : MapKernel(attributes), ranges_(ranges), center_(CenterOf(attributes)) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const AffineRanges ranges, RangesOfAffine(attributes));
    return std::make_unique<RandomAffine>(attributes, ranges);
  }

 protected:
  // Draws the same numbers whatever the attributes are.
  std::optional<SizedMap> Draw(RowRandom& random, int64_t height, int64_t width) const override {
    AffineParameters drawn;
    drawn.center = center_;
    drawn.angle = random.Uniform(ranges_.degrees.low, ranges_.degrees.high);
    const double most_x = ranges_.translate[0] * static_cast<double>(width);
    const double most_y = ranges_.translate[1] * static_cast<double>(height);
    // Rounds half to even, as Python does.
    drawn.translate[0] = std::nearbyint(random.Uniform(-most_x, most_x));
    drawn.translate[1] = std::nearbyint(random.Uniform(-most_y, most_y));
    drawn.scale = random.Uniform(ranges_.scale.low, ranges_.scale.high);
    drawn.shear[0] = random.Uniform(ranges_.shear_x.low, ranges_.shear_x.high);
    drawn.shear[1] = random.Uniform(ranges_.shear_y.low, ranges_.shear_y.high);
    return SizedMap{InverseOf(drawn, height, width), height, width};
  }

 private:
  AffineRanges ranges_;
  std::optional<PlanePoint> center_;
};

ir::Declaration DeclareAffine() {
  ir::Declaration declaration = WarpDeclaration(
      "Affine", "Turns, moves, scales and shears an image.",
      "All of this is done in one resampling, about the middle of the image or `center`, in the image's own size: "
      "torchvision's affine.",
      {{.name = "angle",
        .type = ir::AttributeType::kFloat,
        .doc = "Degrees, clockwise.",
        .default_value = "0.0",
        .minimum = -1e6,
        .maximum = 1e6},
       {.name = "translate",
        .type = ir::AttributeType::kFloats,
        .doc = "(right, down) in pixels.",
        .default_value = "(0.0, 0.0)",
        .minimum = -1e6,
        .maximum = 1e6,
        .lengths = {2}},
       {.name = "scale",
        .type = ir::AttributeType::kFloat,
        .doc = "The factor of lengths.",
        .default_value = "1.0",
        .minimum = 1e-6,
        .maximum = 1e6},
       {.name = "shear",
        .type = ir::AttributeType::kFloats,
        .doc = "Degrees along x, or (along x, along y).",
        .default_value = "(0.0, 0.0)",
        .minimum = -89,
        .maximum = 89,
        .lengths = {1, 2}},
       CenterAttribute()});
  declaration.example = "V.Affine(angle=10, translate=(4, 0), scale=1.1, shear=5)";
  declaration.sample.attributes = {{"angle", "10.0"}};
  return declaration;
}

ir::Declaration DeclareRandomAffine() {
  ir::Declaration declaration = WarpDeclaration(
      "RandomAffine", "Turns, moves, scales and shears an image at random.",
      "Each number is drawn uniformly, translations are rounded to whole pixels; see Affine. Follows torchvision's "
      "RandomAffine.",
      {{.name = "degrees",
        .type = ir::AttributeType::kFloats,
        .doc = "The least and the greatest angle in degrees; one number x: from -x to x.",
        .minimum = -1e6,
        .maximum = 1e6,
        .lengths = {1, 2}},
       {.name = "translate",
        .type = ir::AttributeType::kFloats,
        .doc = "The greatest translations to either side, as parts of (width, height).",
        .default_value = "None",
        .nullable = true,
        .minimum = 0,
        .maximum = 1,
        .lengths = {2}},
       {.name = "scale",
        .type = ir::AttributeType::kFloats,
        .doc = "The least and the greatest factor of lengths.",
        .default_value = "None",
        .nullable = true,
        .minimum = 1e-6,
        .maximum = 1e6,
        .lengths = {2}},
       {.name = "shear",
        .type = ir::AttributeType::kFloats,
        .doc =
            "The least and the greatest shear in degrees along x, and then along y; one number x: from -x to x along "
            "x.",
        .default_value = "None",
        .nullable = true,
        .minimum = -89,
        .maximum = 89,
        .lengths = {1, 2, 4}},
       CenterAttribute()});
  declaration.traits.random = true;
  declaration.infer_kernel =
      InferWarpedAfter([](const ir::Attributes& attributes) { return RangesOfAffine(attributes).status(); });
  declaration.example = "V.RandomAffine(15, translate=(0.1, 0.1), scale=(0.9, 1.1), shear=5)";
  declaration.sample.attributes = {{"degrees", "15.0"}};
  return declaration;
}

const MovingRegistration affine_registration{DeclareAffine(), Makes<Affine>()};
const MovingRegistration random_affine_registration{DeclareRandomAffine(), RandomAffine::Make};

}  // namespace
}  // namespace headrace
