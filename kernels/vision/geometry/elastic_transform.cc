#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/vision/geometry/canvas_target.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/geometry/warp_kernel.h"
#include "kernels/vision/pixels/gaussian_filter.h"

namespace headrace {
namespace {

// torchvision's size of the kernel, which reaches four deviations.
std::vector<float> WeightsOf(double sigma) {
  if (sigma == 0) return {1.0f};
  const auto size = static_cast<int64_t>(8 * sigma + 1);
  return GaussianWeights(size % 2 == 0 ? size + 1 : size, sigma);
}

// How far each pixel of an image is taken from its own place.
struct Displacements {
  Tensor x;
  Tensor y;

  DisplacementField field() const { return {x.data<float>(), y.data<float>()}; }
};

class ElasticTransform : public WarpKernel, public TargetMover {
 public:
  explicit ElasticTransform(const ir::Attributes& attributes)
      : WarpKernel(attributes),
        alpha_(attributes.Floats("alpha")),
        along_(WeightsOf(attributes.Floats("sigma")[0])),
        down_(WeightsOf(attributes.Floats("sigma")[1])) {}

  absl::Status MoveTarget(RowRandom& random, CanvasTarget& target) const override {
    // An image without pixels is refused by itself.
    if (target.height() == 0 || target.width() == 0) return absl::OkStatus();
    HEADRACE_ASSIGN_OR_RETURN(const Displacements drawn, Draw(random, target.height(), target.width()));
    target.Displace(drawn.field());
    return absl::OkStatus();
  }

 protected:
  absl::StatusOr<Tensor> Warp(const Image& image, const WarpOptions& options, RowRandom& random,
                              OutputAllocator& output) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Displacements drawn, Draw(random, image.height, image.width));
    return Displaced(image, drawn.field(), options, output);
  }

 private:
  absl::StatusOr<Displacements> Draw(RowRandom& random, int64_t height, int64_t width) const {
    const auto rows = static_cast<double>(height);
    const auto columns = static_cast<double>(width);
    // torchvision divides x by the height and y by the width, in units of half a side.
    Displacements drawn;
    HEADRACE_ASSIGN_OR_RETURN(drawn.x, Along(alpha_[0] * columns / rows / 2, random, height, width));
    HEADRACE_ASSIGN_OR_RETURN(drawn.y, Along(alpha_[1] * rows / columns / 2, random, height, width));
    return drawn;
  }

  // Uniform in ±`most`, blurred; one for each pixel.
  absl::StatusOr<Tensor> Along(double most, RowRandom& random, int64_t height, int64_t width) const {
    HEADRACE_ASSIGN_OR_RETURN(Tensor drawn, Tensor::Allocate(DType::kFloat32, {height, width}));
    const int64_t count = drawn.elements();
    float* const values = drawn.mutable_data<float>();
    for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(most * random.Uniform(-1, 1));
    if (along_.size() == 1 && down_.size() == 1) return drawn;
    HEADRACE_ASSIGN_OR_RETURN(Tensor blurred, Tensor::Allocate(DType::kFloat32, {height, width}));
    HEADRACE_ASSIGN_OR_RETURN(const Image field, ImageOf(drawn, PixelTypes::kByteOrFloat));
    FilterByWeights(field, down_, along_, blurred.mutable_raw());
    return blurred;
  }

  std::vector<double> alpha_;
  std::vector<float> along_;
  std::vector<float> down_;
};

ir::Declaration DeclaredElasticTransform() {
  ir::Declaration declaration = WarpDeclaration(
      "ElasticTransform", "Moves every pixel of an image a little, as if it were printed on rubber.", "",
      {{.name = "alpha",
        .type = ir::AttributeType::kFloats,
        .doc = "How far pixels move before the blur, (x, y) or one number for both: in an image as high as it is wide, "
               "half as many pixels at most; otherwise x times width over height, and y times height over width. "
               "Between -1,000,000 and 1,000,000.",
        .default_value = "50.0",
        .minimum = -1e6,
        .maximum = 1e6,
        .lengths = {2},
        .broadcast = true},
       {.name = "sigma",
        .type = ir::AttributeType::kFloats,
        .doc = "The standard deviation of the blur in pixels, (x, y) or one number for both, from 0, none, to 1,000.",
        .default_value = "5.0",
        .minimum = 0,
        .maximum = 1000,
        .lengths = {2},
        .broadcast = true}},
      "bilinear");
  declaration.doc =
      "Takes an image of shape (H, W, C) or (H, W), of any numbers with interpolation nearest, otherwise uint8, "
      "uint16 or float32, and gives the same type and shape. For each pixel two numbers are drawn, uniform between -1 "
      "and 1, "
      "first all those for x; each field is blurred by a Gaussian, beyond the border mirrored, and multiplied by "
      "`alpha`: so far from its own place is a pixel taken. torchvision's ElasticTransform, within one level for uint8 "
      "but along the border of what is taken from beyond the image: there torchvision mixes in `fill`, and pixels "
      "here are those of the other warps. Images with sides of less than four deviations are taken, too. Masks, "
      "boxes and keypoints in the same map are moved alike: a corner or point by the displacement of its pixel, which "
      "is near where the pixel goes if displacements change little over their own length.\n"
      "Errors: another dtype or rank, an image without pixels, and a fill that does not fit.";
  declaration.traits.random = true;
  declaration.example = "V.ElasticTransform(alpha=120.0, sigma=6.0)";
  return declaration;
}

const MovingRegistration elastic_transform_registration{DeclaredElasticTransform(), Makes<ElasticTransform>()};

}  // namespace
}  // namespace headrace
