#include <memory>
#include <optional>
#include <vector>

#include "core/error.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/geometry/warp_kernel.h"

namespace headrace {
namespace {

Corners CornersOf(const ir::Attributes& attributes, std::string_view name) {
  const std::vector<double> numbers = attributes.Floats(name);
  Corners corners;
  for (size_t i = 0; i < corners.size(); ++i) corners[i] = {numbers[2 * i], numbers[2 * i + 1]};
  return corners;
}

absl::StatusOr<PlaneMap> ProjectionBy(const ir::Attributes& attributes) {
  return ProjectionOf(CornersOf(attributes, "startpoints"), CornersOf(attributes, "endpoints"));
}

class Perspective : public MapKernel {
 public:
  Perspective(const ir::Attributes& attributes, const PlaneMap& map) : MapKernel(attributes), map_(map) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const PlaneMap map, ProjectionBy(attributes));
    return std::make_unique<Perspective>(attributes, map);
  }

 protected:
  std::optional<SizedMap> Draw(RowRandom&, int64_t height, int64_t width) const override {
    return SizedMap{map_, height, width};
  }

 private:
  PlaneMap map_;
};

class RandomPerspective : public MapKernel {
 public:
  explicit RandomPerspective(const ir::Attributes& attributes)
      : MapKernel(attributes), distortion_(attributes.Float("distortion_scale")), probability_(attributes.Float("p")) {}

 protected:
  std::optional<SizedMap> Draw(RowRandom& random, int64_t height, int64_t width) const override {
    if (random.Uniform() >= probability_) return std::nullopt;
    const auto bound = [this](int64_t side) {
      return static_cast<uint64_t>(distortion_ * static_cast<double>(side / 2)) + 1;
    };
    const uint64_t bound_x = bound(width);
    const uint64_t bound_y = bound(height);
    const auto right = static_cast<double>(width - 1);
    const auto bottom = static_cast<double>(height - 1);
    // Inwards from each corner, x first, clockwise from the top left.
    Corners corners = {{{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}};
    const Corners whole = corners;
    for (size_t i = 0; i < corners.size(); ++i) {
      const auto inward_x = static_cast<double>(random.Below(bound_x));
      const auto inward_y = static_cast<double>(random.Below(bound_y));
      corners[i][0] += corners[i][0] > 0 ? -inward_x : inward_x;
      corners[i][1] += corners[i][1] > 0 ? -inward_y : inward_y;
    }
    const absl::StatusOr<PlaneMap> map = ProjectionOf(whole, corners);
    // Images of a pixel or two have corners that coincide.
    if (!map.ok()) return std::nullopt;
    return SizedMap{*map, height, width};
  }

 private:
  double distortion_;
  double probability_;
};

constexpr const char* kPoints = "x and y of four points: top left, top right, bottom right, bottom left";

ir::Declaration DeclarePerspective() {
  ir::Declaration declaration = WarpDeclaration(
      "Perspective", "Moves four points of an image to four others.",
      "The projective map of the plane that does this is applied in the image's own size: torchvision's perspective, "
      "which finds the map by least squares, so that single pixels where two colours meet may differ.",
      {{.name = "startpoints",
        .type = ir::AttributeType::kFloats,
        .doc = Cat("Eight numbers: ", kPoints, " in the image."),
        .minimum = -1e6,
        .maximum = 1e6,
        .lengths = {8}},
       {.name = "endpoints",
        .type = ir::AttributeType::kFloats,
        .doc = "Eight numbers: where these points go.",
        .minimum = -1e6,
        .maximum = 1e6,
        .lengths = {8}}},
      "bilinear");
  declaration.infer_kernel =
      InferWarpedAfter([](const ir::Attributes& attributes) { return ProjectionBy(attributes).status(); });
  declaration.example = "V.Perspective((0, 0, 79, 0, 79, 59, 0, 59), (5, 2, 70, 0, 79, 59, 3, 50))";
  declaration.sample.attributes = {{"startpoints", "(0.0, 0.0, 79.0, 0.0, 79.0, 59.0, 0.0, 59.0)"},
                                   {"endpoints", "(5.0, 2.0, 70.0, 0.0, 79.0, 59.0, 3.0, 50.0)"}};
  return declaration;
}

ir::Declaration DeclareRandomPerspective() {
  ir::Declaration declaration = WarpDeclaration(
      "RandomPerspective", "Shows some images from a random point of view.",
      "With probability `p` each corner moves inwards by whole pixels, drawn uniformly in each direction from 0 to "
      "`distortion_scale` times half the side: torchvision's RandomPerspective.",
      {{.name = "distortion_scale",
        .type = ir::AttributeType::kFloat,
        .doc = "How far corners may move, as a part of half the side.",
        .default_value = "0.5",
        .minimum = 0,
        .maximum = 1},
       {.name = "p",
        .type = ir::AttributeType::kFloat,
        .doc = "How likely a row is changed.",
        .default_value = "0.5",
        .minimum = 0,
        .maximum = 1}},
      "bilinear");
  declaration.traits.random = true;
  declaration.example = "V.RandomPerspective(0.5, p=0.5)";
  declaration.sample.attributes = {{"p", "1.0"}};
  return declaration;
}

const MovingRegistration perspective_registration{DeclarePerspective(), Perspective::Make};
const MovingRegistration random_perspective_registration{DeclareRandomPerspective(), Makes<RandomPerspective>()};

}  // namespace
}  // namespace headrace
