#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "kernels/vision/augment/augmentation.h"
#include "kernels/vision/augment/timm_settings.h"
#include "kernels/vision/color/color_kernel.h"
#include "kernels/vision/image/image_size.h"

namespace headrace {
namespace {

struct Weighted {
  Augmentation what;
  int64_t weight;
};

// In timm's order, with the weights of its set "weights" times 20.
constexpr std::array<Weighted, 15> kTimmOperations = {{{Augmentation::kAutoContrast, 5},
                                                       {Augmentation::kEqualize, 1},
                                                       {Augmentation::kInvert, 1},
                                                       {Augmentation::kRotate, 60},
                                                       {Augmentation::kPosterize, 1},
                                                       {Augmentation::kSolarize, 1},
                                                       {Augmentation::kSolarizeAdd, 1},
                                                       {Augmentation::kColor, 5},
                                                       {Augmentation::kContrast, 1},
                                                       {Augmentation::kBrightness, 1},
                                                       {Augmentation::kSharpness, 5},
                                                       {Augmentation::kShearX, 40},
                                                       {Augmentation::kShearY, 40},
                                                       {Augmentation::kTranslateX, 20},
                                                       {Augmentation::kTranslateY, 20}}};

// `level` is the magnitude divided by timm's ten.
double FactorAt(double level, bool increasing, double sign) {
  return increasing ? std::max(0.1, 1 + sign * (level * 0.9)) : level * 1.8 + 0.1;
}

double BitsAt(double level, bool increasing) {
  const double bits = std::trunc(level * 4);
  return std::clamp(increasing ? 4 - bits : bits, 0.0, 8.0);
}

double ThresholdAt(double level, bool increasing) {
  const double threshold = std::min(256.0, std::trunc(level * 256));
  return increasing ? 256 - threshold : threshold;
}

double MagnitudeAt(Augmentation what, double level, bool increasing, double sign, ImageSize size) {
  constexpr double kMostOfSide = 0.45;
  switch (what) {
    case Augmentation::kShearX:
    case Augmentation::kShearY:
      return sign * (level * 0.3);
    // timm's positive numbers move to the left and up.
    case Augmentation::kTranslateX:
      return -sign * (level * kMostOfSide) * static_cast<double>(size.width);
    case Augmentation::kTranslateY:
      return -sign * (level * kMostOfSide) * static_cast<double>(size.height);
    case Augmentation::kRotate:
      return sign * (level * 30);
    case Augmentation::kBrightness:
    case Augmentation::kColor:
    case Augmentation::kContrast:
    case Augmentation::kSharpness:
      return FactorAt(level, increasing, sign) - 1;
    case Augmentation::kPosterize:
      return BitsAt(level, increasing);
    case Augmentation::kSolarize:
      return ThresholdAt(level, increasing);
    case Augmentation::kSolarizeAdd:
      return std::min(128.0, std::trunc(level * 110));
    default:
      return 0;
  }
}

// Draws the operations that an image goes through.
class TimmOperations {
 public:
  explicit TimmOperations(bool weighted) : weighted_(weighted) {}

  Augmentation Next(RowRandom& random) {
    if (!weighted_) return kTimmOperations[random.Below(kTimmOperations.size())].what;
    auto left = static_cast<int64_t>(random.Below(static_cast<uint64_t>(total_)));
    size_t at = 0;
    while (left >= weights_[at]) left -= weights_[at++];
    // Each at most once.
    total_ -= weights_[at];
    weights_[at] = 0;
    return kTimmOperations[at].what;
  }

 private:
  static std::array<int64_t, kTimmOperations.size()> Weights() {
    std::array<int64_t, kTimmOperations.size()> weights;
    std::transform(kTimmOperations.begin(), kTimmOperations.end(), weights.begin(),
                   [](const Weighted& each) { return each.weight; });
    return weights;
  }

  bool weighted_;
  std::array<int64_t, kTimmOperations.size()> weights_ = Weights();
  int64_t total_ = std::accumulate(weights_.begin(), weights_.end(), int64_t{0});
};

class TimmRandAugment : public AugmentationKernel {
 public:
  TimmRandAugment(const ir::Attributes& attributes, const TimmSettings& settings)
      : AugmentationKernel(attributes),
        settings_(settings),
        draws_filter_(attributes.String("interpolation") == "random") {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const TimmSettings settings, TimmSettings::Of(attributes.String("config")));
    return std::make_unique<TimmRandAugment>(attributes, settings);
  }

  // Draws the same numbers whatever is chosen.
  AugmentedList Draw(int64_t height, int64_t width, RowRandom& random) const override {
    TimmOperations operations(settings_.weighted);
    AugmentedList list;
    for (int64_t i = 0; i < settings_.operations; ++i) {
      Augmented next = {.what = operations.Next(random), .by_tangent = true};
      const bool applied = random.Uniform() < settings_.probability;
      const double level = DrawMagnitude(random) / 10;
      const double sign = random.Uniform() < 0.5 ? -1 : 1;
      next.magnitude = MagnitudeAt(next.what, level, settings_.increasing, sign, {height, width});
      if (draws_filter_) next.filter = random.Below(2) == 0 ? WarpFilter::kBilinear : WarpFilter::kBicubic;
      if (applied) list.push_back(next);
    }
    return list;
  }

 private:
  double DrawMagnitude(RowRandom& random) const {
    auto magnitude = static_cast<double>(settings_.magnitude);
    if (settings_.deviation > TimmSettings::kUniformAbove) {
      magnitude = random.Uniform(0, magnitude);
    } else if (settings_.deviation > 0) {
      magnitude += settings_.deviation * random.Normal();
    }
    return std::clamp(magnitude, 0.0, static_cast<double>(settings_.most));
  }

  TimmSettings settings_;
  bool draws_filter_;  // for each operation
};

ir::Declaration DeclaredTimmRandAugment() {
  ir::Declaration declaration = AugmentationDeclaration(
      "TimmRandAugment", "Applies operations chosen at random, as a text of timm's says.",
      "`config` is the text that timm's scripts take as --aa: \"rand\", then parts in any order. n: how many "
      "operations "
      "are drawn (2), of autocontrast, equalize, invert, rotate, posterize, solarize, solarize-add, colour, contrast, "
      "brightness, sharpness, shears and translations, all equally likely; p: the probability of each to be applied "
      "(0.5); m: the magnitude (10), mstd: the standard deviation of a normal distribution around it (0), above 100 a "
      "uniform one from 0 to m; mmax: where magnitudes end (10); inc1: operations grow stronger with the magnitude, "
      "without it some grow weaker; tweights: operations are drawn by timm's weights, each at most once. timm's "
      "RandAugment of Pillow images. Its create_transform fills with the mean: fill=(124, 116, 104) for ImageNet's.",
      {{.name = "config", .type = ir::AttributeType::kString, .doc = "The parts, as in \"rand-m9-mstd0.5-inc1\"."}},
      "random");
  for (ir::Attribute& attribute : declaration.attributes) {
    if (attribute.name == "fill") attribute.default_value = "128";
    if (attribute.name != "interpolation") continue;
    attribute.choices.push_back("random");
    attribute.doc += " random: bilinear or bicubic, drawn for each operation.";
  }
  declaration.infer_kernel =
      [](const ir::Attributes& attributes,
         absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    HEADRACE_RETURN_IF_ERROR(TimmSettings::Of(attributes.String("config")).status());
    return InferColor(attributes, inputs);
  };
  declaration.example = "V.TimmRandAugment(\"rand-m9-mstd0.5-inc1\", fill=(124, 116, 104))";
  declaration.sample.attributes = {{"config", "'rand-m9-p1-mstd0.5-inc1'"}};
  return declaration;
}

const KernelRegistration timm_rand_augment_registration{DeclaredTimmRandAugment(), TimmRandAugment::Make};

}  // namespace
}  // namespace headrace
