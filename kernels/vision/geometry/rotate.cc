#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/graph.pb.h"
#include "kernels/vision/geometry/canvas_target.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/geometry/warp_kernel.h"

namespace headrace {
namespace {

// By an angle from an interval, which may be one angle.
class Rotation : public WarpKernel, public TargetMover {
 public:
  Rotation(const ir::Attributes& attributes, Interval degrees)
      : WarpKernel(attributes), degrees_(degrees), expand_(attributes.Bool("expand")), center_(CenterOf(attributes)) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Fixed(const ir::Attributes& attributes) {
    const double angle = attributes.Float("angle");
    return std::make_unique<Rotation>(attributes, Interval{angle, angle});
  }
  static absl::StatusOr<std::unique_ptr<Kernel>> Random(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const Interval degrees, SymmetricInterval(attributes, "degrees"));
    return std::make_unique<Rotation>(attributes, degrees);
  }

  absl::Status MoveTarget(RowRandom& random, CanvasTarget& target) const override {
    const Turning turning = Draw(random, target.height(), target.width());
    if (turning.whole) {
      target.Turn(turning.quarters);
    } else {
      target.Warp(turning.map, turning.height, turning.width);
    }
    return absl::OkStatus();
  }

 protected:
  absl::StatusOr<Tensor> Warp(const Image& image, const WarpOptions& options, RowRandom& random,
                              OutputAllocator& output) const override {
    return Rotated(image, Draw(random, image.height, image.width), options, output);
  }

 private:
  Turning Draw(RowRandom& random, int64_t height, int64_t width) const {
    return TurningOf(random.Uniform(degrees_.low, degrees_.high), expand_, center_, height, width);
  }

  Interval degrees_;
  bool expand_;
  std::optional<PlanePoint> center_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferRotate(const ir::Attributes& attributes,
                                                        absl::Span<const ir::ColumnType> inputs) {
  if (attributes.Find("degrees")) HEADRACE_RETURN_IF_ERROR(SymmetricInterval(attributes, "degrees").status());
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, InferWarped(attributes, inputs[0], !attributes.Bool("expand")));
  return std::vector{std::move(type)};
}

ir::Declaration DeclaredRotate(std::string name, std::string summary, std::string says, ir::Attribute angle) {
  ir::Declaration declaration = WarpDeclaration(std::move(name), std::move(summary), std::move(says),
                                                {std::move(angle),
                                                 {.name = "expand",
                                                  .type = ir::AttributeType::kBool,
                                                  .doc = "Give an image that is as large as the whole turned one.",
                                                  .default_value = "False"},
                                                 CenterAttribute()});
  declaration.infer_kernel = InferRotate;
  return declaration;
}

ir::Declaration DeclareRotate() {
  ir::Declaration declaration = DeclaredRotate(
      "Rotate", "Turns an image.",
      "It is turned counter-clockwise about its middle, or `center`, in its own size; quarter turns of a square "
      "image, or with `expand`, move pixels without resampling.",
      {.name = "angle", .type = ir::AttributeType::kFloat, .doc = "Degrees.", .minimum = -1e6, .maximum = 1e6});
  declaration.example = "V.Rotate(30, interpolation=\"bilinear\", fill=(124, 116, 104))";
  declaration.sample.attributes = {{"angle", "30.0"}};
  return declaration;
}

ir::Declaration DeclareRandomRotate() {
  ir::Declaration declaration = DeclaredRotate(
      "RandomRotation", "Turns an image by a random angle.",
      "The angle is drawn uniformly, counter-clockwise, as torchvision's RandomRotation draws it; see Rotate.",
      {.name = "degrees",
       .type = ir::AttributeType::kFloats,
       .doc = "The least and the greatest angle in degrees; one number x: from -x to x.",
       .minimum = -1e6,
       .maximum = 1e6,
       .lengths = {1, 2}});
  declaration.traits.random = true;
  declaration.example = "V.RandomRotation(15)";
  declaration.sample.attributes = {{"degrees", "(20.0, 60.0)"}};
  return declaration;
}

const MovingRegistration rotate_registration{DeclareRotate(), Rotation::Fixed};
const MovingRegistration random_rotate_registration{DeclareRandomRotate(), Rotation::Random};

}  // namespace
}  // namespace headrace
