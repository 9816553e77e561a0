#include "kernels/vision/augment/augmentation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <optional>
#include <utility>

#include "core/error.h"
#include "kernels/vision/color/color_steps.h"
#include "kernels/vision/color/table_steps.h"
#include "kernels/vision/fused/pixel_pass.h"
#include "kernels/vision/geometry/affine_map.h"
#include "kernels/vision/image/window.h"
#include "kernels/vision/pixels/sharpness.h"
#include "kernels/vision/pixels/unit_range.h"

namespace headrace {
namespace {

bool HasSign(Augmentation what) { return what >= Augmentation::kShearX && what <= Augmentation::kSharpness; }

const PixelStep& AutoContrast() {
  static const AutoContrastStep step;
  return step;
}

// Adds `factor`, of bytes, to values of less than 128.
class SolarizeAdded : public TableStep {
 protected:
  void Fill(const PixelFacts& facts, int64_t, absl::Span<uint8_t> table) const override {
    for (int value = 0; value < 256; ++value) {
      table[value] = static_cast<uint8_t>(value < 128 ? std::min<double>(value + facts.factor, 255) : value);
    }
  }
  void RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const override {
    const float added = static_cast<float>(facts.factor / 255);
    const auto changed = [added](float value) { return value < 128.0f / 255 ? std::min(value + added, 1.0f) : value; };
    std::transform(row.floats(), row.floats() + row.count(), target, changed);
  }
};

const PixelStep& SolarizeAddStep() {
  static const SolarizeAdded step;
  return step;
}

// Whether it is a step, which then is added.
bool AddStep(const Augmented& augmented, DType dtype, PixelSteps& steps) {
  const double magnitude = augmented.magnitude;
  switch (augmented.what) {
    case Augmentation::kBrightness:
      steps.Add(BrightnessStep(), 1 + magnitude);
      return true;
    case Augmentation::kColor:
      steps.Add(SaturationStep(), 1 + magnitude);
      return true;
    case Augmentation::kContrast:
      steps.Add(ContrastStep(), 1 + magnitude);
      return true;
    case Augmentation::kPosterize:
      steps.Add(PosterizeStep(), magnitude);
      return true;
    case Augmentation::kSolarize:
      steps.Add(SolarizeStep(), dtype == DType::kFloat32 ? magnitude / 255 : magnitude);
      return true;
    case Augmentation::kAutoContrast:
      steps.Add(AutoContrast());
      return true;
    case Augmentation::kEqualize:
      steps.Add(EqualizeStep());
      return true;
    case Augmentation::kInvert:
      steps.Add(InvertStep());
      return true;
    case Augmentation::kSolarizeAdd:
      steps.Add(SolarizeAddStep(), magnitude);
      return true;
    default:
      return false;
  }
}

double DegreesOfShear(double tangent) { return std::atan(tangent) * (180 / std::numbers::pi); }

AffineParameters MoveOf(const Augmented& augmented) {
  const double magnitude = augmented.magnitude;
  // Shears keep the top left corner.
  if (augmented.what == Augmentation::kShearX) {
    return {.shear = {DegreesOfShear(magnitude), 0}, .center = PlanePoint{0, 0}};
  }
  if (augmented.what == Augmentation::kShearY) {
    return {.shear = {0, DegreesOfShear(magnitude)}, .center = PlanePoint{0, 0}};
  }
  // Around any point the same, but exact around this one where pixels have fractions.
  if (augmented.what == Augmentation::kTranslateX) return {.translate = {magnitude, 0}, .center = PlanePoint{0, 0}};
  return {.translate = {0, magnitude}, .center = PlanePoint{0, 0}};
}

PlaneMap MapOf(const Augmented& augmented, const Image& image) {
  if (augmented.by_tangent && augmented.what == Augmentation::kShearX) return {{1, augmented.magnitude, 0, 0, 1, 0}};
  if (augmented.by_tangent && augmented.what == Augmentation::kShearY) return {{1, 0, 0, augmented.magnitude, 1, 0}};
  return InverseOf(MoveOf(augmented), image.height, image.width);
}

// Between pixels, floats may be made that are beyond them.
Tensor CutOff(Tensor image, const WarpOptions& options) {
  if (image.dtype() != DType::kFloat32 || options.filter == WarpFilter::kNearest) return image;
  float* const values = image.mutable_data<float>();
  std::transform(values, values + image.elements(), values, [](float value) { return std::clamp(value, 0.0f, 1.0f); });
  return image;
}

absl::StatusOr<Tensor> Moved(const Image& image, const Augmented& augmented, WarpOptions options,
                             OutputAllocator& output) {
  options.filter = augmented.filter.value_or(options.filter);
  if (augmented.what == Augmentation::kSharpness) return WithSharpness(image, 1 + augmented.magnitude, output);
  Tensor moved;
  if (augmented.what == Augmentation::kRotate) {
    const auto turning = TurningOf(augmented.magnitude, false, std::nullopt, image.height, image.width);
    HEADRACE_ASSIGN_OR_RETURN(moved, Rotated(image, turning, options, output));
  } else {
    const PlaneMap map = MapOf(augmented, image);
    HEADRACE_ASSIGN_OR_RETURN(moved, Warped(image, map, image.height, image.width, options, output));
  }
  return CutOff(std::move(moved), options);
}

// Whatever is drawn.
absl::Status CheckFill(absl::Span<const ir::Number> fill, const Image& image) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<uint8_t> pixel, PixelOf("fill", fill, image));
  if (image.dtype() != DType::kFloat32) return absl::OkStatus();
  for (int64_t c = 0; c < image.channels; ++c) {
    float value = 0;
    std::memcpy(&value, pixel.data() + c * sizeof(float), sizeof(float));
    if (!(value >= 0 && value <= 1)) return GraphError("fill has ", value, ", and floats are 0 … 1 here");
  }
  return absl::OkStatus();
}

}  // namespace

MagnitudeSpace MagnitudeSpace::Usual(int64_t bins, int64_t height, int64_t width) {
  return {.bins = bins,
          .shear = 0.3,
          .translate_x = 150.0 / 331.0 * static_cast<double>(width),
          .translate_y = 150.0 / 331.0 * static_cast<double>(height),
          .degrees = 30,
          .factor = 0.9,
          .bits = 4};
}

MagnitudeSpace MagnitudeSpace::Wide(int64_t bins) {
  return {.bins = bins, .shear = 0.99, .translate_x = 32, .translate_y = 32, .degrees = 135, .factor = 0.99, .bits = 6};
}

MagnitudeSpace MagnitudeSpace::Mixed(int64_t height, int64_t width) {
  return {.bins = 10,
          .shear = 0.3,
          .translate_x = static_cast<double>(width) / 3,
          .translate_y = static_cast<double>(height) / 3,
          .degrees = 30,
          .factor = 0.9,
          .bits = 4,
          .most_bits = 4};
}

Augmented MagnitudeSpace::Of(Augmentation what, int64_t bin, bool negative) const {
  const double part = static_cast<double>(bin) / static_cast<double>(bins - 1);
  const double sign = negative && HasSign(what) ? -1 : 1;
  switch (what) {
    case Augmentation::kShearX:
    case Augmentation::kShearY:
      return {what, sign * shear * part};
    case Augmentation::kTranslateX:
      return {what, sign * std::trunc(translate_x * part)};
    case Augmentation::kTranslateY:
      return {what, sign * std::trunc(translate_y * part)};
    case Augmentation::kRotate:
      return {what, sign * degrees * part};
    case Augmentation::kBrightness:
    case Augmentation::kColor:
    case Augmentation::kContrast:
    case Augmentation::kSharpness:
      return {what, sign * factor * part};
    case Augmentation::kPosterize:
      return {what, std::nearbyint(most_bits - bits * part)};
    case Augmentation::kSolarize:
      // In this order whole thresholds are exact.
      return {what, 255.0 * static_cast<double>(bins - 1 - bin) / static_cast<double>(bins - 1)};
    default:
      return {what, 0};
  }
}

absl::StatusOr<Tensor> Augment(const Tensor& image, absl::Span<const Augmented> list, const WarpOptions& options,
                               OutputAllocator& output) {
  AugmentedList changes;
  for (const Augmented& augmented : list) {
    if (augmented.what != Augmentation::kIdentity) changes.push_back(augmented);
  }
  Tensor current = image;
  for (size_t at = 0; at < changes.size();) {
    HEADRACE_ASSIGN_OR_RETURN(const Image before, ImageOf(current, PixelTypes::kByteOrFloat));
    PixelSteps steps({before.height, before.width});
    size_t end = at;
    while (end < changes.size() && AddStep(changes[end], before.dtype(), steps)) ++end;
    const bool moves = end == at;
    if (moves) ++end;
    OutputAllocator intermediate;
    OutputAllocator& target = end == changes.size() ? output : intermediate;
    if (moves) {
      HEADRACE_ASSIGN_OR_RETURN(current, Moved(before, changes[at], options, target));
    } else {
      HEADRACE_ASSIGN_OR_RETURN(current, RunPixelSteps(before, {}, steps, target));
    }
    at = end;
  }
  return current;
}

AugmentingKernel::AugmentingKernel(const ir::Attributes& attributes)
    : filter_(WarpFilterOf(attributes.String("interpolation"))), fill_(attributes.Numbers("fill")) {}

absl::StatusOr<Tensor> AugmentingKernel::Apply(const Tensor& input, KernelContext& context) const {
  HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kByteOrFloat));
  HEADRACE_RETURN_IF_ERROR(CheckColor(input.dtype(), image.channels, input.TypeName()));
  HEADRACE_RETURN_IF_ERROR(CheckUnitRange(image));
  HEADRACE_RETURN_IF_ERROR(CheckFill(fill_, image));
  return Change(input, {filter_, fill_}, context.random(), context.output());
}

absl::StatusOr<Tensor> AugmentationKernel::Change(const Tensor& image, const WarpOptions& options, RowRandom& random,
                                                  OutputAllocator& output) const {
  return Augment(image, Draw(image.dim(0), image.dim(1), random), options, output);
}

ir::Declaration AugmentationDeclaration(std::string name, std::string summary, std::string says,
                                        std::vector<ir::Attribute> own, std::string_view filter) {
  ir::Declaration declaration = ColorDeclaration(std::move(name), std::move(summary), std::move(says));
  declaration.doc.insert(declaration.doc.find("\nErrors:"),
                         " On floats, each operation is as its kernel is, thresholds are divided by 255, and what "
                         "interpolation makes beyond 0 … 1 is cut off.");
  declaration.attributes = std::move(own);
  declaration.attributes.push_back(WarpFilterAttribute(filter));
  declaration.attributes.push_back(WarpFillAttribute());
  declaration.traits = {.random = true};
  declaration.takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; };
  return declaration;
}

ir::Attribute MagnitudeBinsAttribute() {
  return {.name = "num_magnitude_bins",
          .doc = "How many magnitudes there are, from none to the greatest.",
          .default_value = "31",
          .minimum = 2,
          .maximum = 1000000};
}

}  // namespace headrace
