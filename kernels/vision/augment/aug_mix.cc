#include <algorithm>
#include <vector>

#include "core/error.h"
#include "kernels/numbers/beta.h"
#include "kernels/vision/augment/augmentation.h"
#include "kernels/vision/pixels/weighted_sum.h"

namespace headrace {
namespace {

// All but the identity and Invert; without those that change colours, as tests of robustness use them.
constexpr uint64_t kOperations = 13;
constexpr uint64_t kWithoutColours = 9;

Augmentation OperationOf(uint64_t drawn, bool all) {
  constexpr auto kFirst = static_cast<uint64_t>(Augmentation::kShearX);
  constexpr auto kColours = static_cast<uint64_t>(Augmentation::kBrightness);
  constexpr auto kBehindColours = static_cast<uint64_t>(Augmentation::kPosterize);
  const uint64_t number = kFirst + drawn;
  return static_cast<Augmentation>(all || number < kColours ? number : number + kBehindColours - kColours);
}

// Adds the image row by row, as it may be a view.
absl::Status AddImage(const Tensor& tensor, float weight, float* sums) {
  HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(tensor, PixelTypes::kByteOrFloat));
  const int64_t values = image.width * image.channels;
  for (int64_t y = 0; y < image.height; ++y) {
    if (image.dtype() == DType::kFloat32) {
      AddWeighted(reinterpret_cast<const float*>(image.row(y)), values, weight, sums + y * values);
    } else {
      AddWeighted(image.row(y), values, weight, sums + y * values);
    }
  }
  return absl::OkStatus();
}

// Fractions of bytes are cut off, as torchvision's conversion does.
void StoreSums(const float* sums, Tensor& mixed) {
  const float* const end = sums + mixed.elements();
  if (mixed.dtype() == DType::kFloat32) {
    std::transform(sums, end, mixed.mutable_data<float>(), [](float value) { return std::min(value, 1.0f); });
  } else {
    std::transform(sums, end, mixed.mutable_raw(),
                   [](float value) { return static_cast<uint8_t>(std::min(value, 255.0f)); });
  }
}

class AugMix : public AugmentingKernel {
 public:
  explicit AugMix(const ir::Attributes& attributes)
      : AugmentingKernel(attributes),
        severity_(static_cast<uint64_t>(attributes.Int("severity"))),
        width_(attributes.Int("mixture_width")),
        depth_(attributes.Int("chain_depth")),
        alpha_(attributes.Float("alpha")),
        all_(attributes.Bool("all_ops")) {}

 protected:
  absl::StatusOr<Tensor> Change(const Tensor& image, const WarpOptions& options, RowRandom& random,
                                OutputAllocator& output) const override {
    const MagnitudeSpace space = MagnitudeSpace::Mixed(image.dim(0), image.dim(1));
    const double of_mixture = DrawBeta(alpha_, random);
    std::vector<double> weights(static_cast<size_t>(width_));
    DrawDirichlet(alpha_, absl::MakeSpan(weights), random);
    HEADRACE_ASSIGN_OR_RETURN(Tensor sums, Tensor::Allocate(DType::kFloat32, image.shape()));
    float* const sum = sums.mutable_data<float>();
    std::fill_n(sum, sums.elements(), 0.0f);
    HEADRACE_RETURN_IF_ERROR(AddImage(image, static_cast<float>(1 - of_mixture), sum));
    for (const double weight : weights) {
      OutputAllocator intermediate;
      HEADRACE_ASSIGN_OR_RETURN(const Tensor changed, Augment(image, DrawChain(space, random), options, intermediate));
      HEADRACE_RETURN_IF_ERROR(AddImage(changed, static_cast<float>(weight) * static_cast<float>(of_mixture), sum));
    }
    HEADRACE_ASSIGN_OR_RETURN(Tensor mixed, output.Allocate(image.dtype(), image.shape()));
    StoreSums(sum, mixed);
    return mixed;
  }

 private:
  AugmentedList DrawChain(const MagnitudeSpace& space, RowRandom& random) const {
    AugmentedList chain;
    const int64_t length = depth_ > 0 ? depth_ : 1 + static_cast<int64_t>(random.Below(3));
    for (int64_t i = 0; i < length; ++i) {
      const Augmentation what = OperationOf(random.Below(all_ ? kOperations : kWithoutColours), all_);
      const auto bin = static_cast<int64_t>(random.Below(severity_));
      chain.push_back(space.Of(what, bin, random.Uniform() < 0.5));
    }
    return chain;
  }

  uint64_t severity_;
  int64_t width_;
  int64_t depth_;
  double alpha_;
  bool all_;
};

ir::Declaration DeclaredAugMix() {
  ir::Declaration declaration = AugmentationDeclaration(
      "AugMix", "Mixes an image with several chains of operations on it.",
      "`mixture_width` chains of operations, all equally likely, are applied to the image, each operation with one of "
      "the `severity` least of ten magnitudes: shears, translations, rotation, posterize, solarize, autocontrast, "
      "equalize, and with all_ops brightness, colour, contrast, sharpness. Their results are added with weights drawn "
      "from Dirichlet(alpha, …), and that sum and the image with weights from Beta(alpha, alpha); fractions of "
      "uint8 are cut off. torchvision's AugMix, whose operations are those of its AutoAugment of Pillow images here "
      "(Hendrycks et "
      "al., 2020).",
      {{.name = "severity",
        .doc = "How many of the ten magnitudes are used, from the least, 1 to 10.",
        .default_value = "3",
        .minimum = 1,
        .maximum = 10},
       {.name = "mixture_width",
        .doc = "How many chains there are, 1 to 100.",
        .default_value = "3",
        .minimum = 1,
        .maximum = 100},
       {.name = "chain_depth",
        .doc = "How many operations each chain has, up to 100; 0 or -1: 1, 2 or 3, drawn for each.",
        .default_value = "-1",
        .minimum = -1,
        .maximum = 100},
       {.name = "alpha",
        .type = ir::AttributeType::kFloat,
        .doc =
            "The parameter of both distributions, 0.000001 to 1,000,000: 1 gives any weights, more gives nearly equal "
            "ones.",
        .default_value = "1.0",
        .minimum = 1e-6,
        .maximum = 1e6},
       {.name = "all_ops",
        .type = ir::AttributeType::kBool,
        .doc = "Whether brightness, colour, contrast and sharpness are among the operations.",
        .default_value = "True"}},
      "bilinear");
  declaration.example = "V.AugMix(severity=3)";
  return declaration;
}

const KernelRegistration aug_mix_registration{DeclaredAugMix(), Makes<AugMix>()};

}  // namespace
}  // namespace headrace
