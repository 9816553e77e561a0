#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/image.h"
#include "kernels/vision/resized_crop_box.h"
#include "kernels/vision/window.h"

namespace headrace {
namespace {

constexpr int kAttempts = 10;
constexpr int64_t kBoxNumbers = 4;

// Rounds half to even, as Python does.
int64_t Rounded(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

// Nullopt if none of the attempts fits.
std::optional<Window> DrawErased(const Image& image, Interval scale, Interval ratio, RowRandom& random) {
  const double area = static_cast<double>(image.height) * static_cast<double>(image.width);
  const Interval log_ratio = {std::log(ratio.low), std::log(ratio.high)};
  for (int i = 0; i < kAttempts; ++i) {
    const double erased_area = area * random.Uniform(scale.low, scale.high);
    const double aspect = std::exp(random.Uniform(log_ratio.low, log_ratio.high));
    Window erased;
    erased.height = Rounded(std::sqrt(erased_area * aspect));
    erased.width = Rounded(std::sqrt(erased_area / aspect));
    if (erased.height >= image.height || erased.width >= image.width) continue;
    erased.top = static_cast<int64_t>(random.Below(image.height - erased.height + 1));
    erased.left = static_cast<int64_t>(random.Below(image.width - erased.width + 1));
    return erased;
  }
  return std::nullopt;
}

struct Erasing {
  double probability;
  Interval scale;
  Interval ratio;

  static absl::StatusOr<Erasing> Of(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const Interval scale, Interval::Of(attributes, "scale"));
    HEADRACE_ASSIGN_OR_RETURN(const Interval ratio, Interval::Of(attributes, "ratio"));
    return Erasing{attributes.Float("p"), scale, ratio};
  }
  // Nullopt: the image stays as it is.
  std::optional<Window> Draw(const Image& image, RowRandom& random) const {
    if (random.Uniform() >= probability) return std::nullopt;
    return DrawErased(image, scale, ratio, random);
  }
};

class RandomErasing : public UnaryKernel {
 public:
  RandomErasing(Erasing erasing, std::vector<ir::Number> value) : erasing_(erasing), value_(std::move(value)) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const Erasing erasing, Erasing::Of(attributes));
    return std::make_unique<RandomErasing>(erasing, attributes.Numbers("value"));
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kFixedSize));
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<uint8_t> pixel, PixelOf("value", value_, image));
    const std::optional<Window> erased = erasing_.Draw(image, context.random());
    if (!erased) return input;
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, AllocateLike(image, image.height, image.width, context.output()));
    const int64_t row_bytes = image.width * image.pixel_bytes();
    for (int64_t y = 0; y < image.height; ++y) {
      uint8_t* row = output.mutable_raw() + y * row_bytes;
      std::memcpy(row, image.row(y), row_bytes);
      if (y < erased->top || y >= erased->top + erased->height) continue;
      FillRun(pixel, erased->width, row + erased->left * image.pixel_bytes());
    }
    return output;
  }

 private:
  Erasing erasing_;
  std::vector<ir::Number> value_;
};

// What RandomErasing draws, for who erases it elsewhere.
class RandomErasingBox : public UnaryKernel {
 public:
  explicit RandomErasingBox(Erasing erasing) : erasing_(erasing) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const Erasing erasing, Erasing::Of(attributes));
    return std::make_unique<RandomErasingBox>(erasing);
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kFixedSize));
    const Window erased = erasing_.Draw(image, context.random()).value_or(Window());
    HEADRACE_ASSIGN_OR_RETURN(Tensor box, context.AllocateOutput(DType::kInt32, {kBoxNumbers}));
    int64_t at = 0;
    for (const int64_t number : {erased.left, erased.top, erased.width, erased.height}) {
      box.mutable_data<int32_t>()[at++] = static_cast<int32_t>(number);
    }
    return box;
  }

 private:
  Erasing erasing_;
};

absl::StatusOr<std::vector<ir::ColumnType>> Infer(const ir::Attributes&, absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  return std::vector{type};
}

absl::StatusOr<std::vector<ir::ColumnType>> InferBox(const ir::Attributes&, absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(ImageTypeOf(inputs[0], PixelTypes::kFixedSize).status());
  return std::vector{ir::ColumnType::Of(DType::kInt32, {kBoxNumbers})};
}

std::vector<ir::Attribute> Declared() {
  return {{.name = "p",
           .type = ir::AttributeType::kFloat,
           .doc = "How likely a rectangle of a row is erased.",
           .default_value = "0.5",
           .minimum = 0,
           .maximum = 1},
          {.name = "scale",
           .type = ir::AttributeType::kFloats,
           .doc = "The least and the greatest share of the image's area.",
           .default_value = "(0.02, 0.33)",
           .minimum = 0,
           .maximum = 1,
           .lengths = {2}},
          {.name = "ratio",
           .type = ir::AttributeType::kFloats,
           .doc = "The least and the greatest height over width.",
           .default_value = "(0.3, 3.3)",
           .minimum = 0,
           .exclusive_minimum = true,
           .lengths = {2}},
          {.name = "value",
           .type = ir::AttributeType::kFloats,
           .doc = "What erased pixels hold: one number, or one per channel, in the units of the input.",
           .default_value = "0",
           .keeps_whole = true}};
}

const KernelRegistration registration{
    {.name = "RandomErasing",
     .summary = "Erases a random rectangle in some rows, chosen at random.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type and shape, with a "
            "rectangle of `value` with probability `p`. The rectangle is drawn as torchvision's RandomErasing draws "
            "it: its area's share uniform in `scale`, its ratio log-uniform in `ratio`, its position uniform; it must "
            "be smaller than the image on both sides, and after ten that are not, the image stays as it is. "
            "torchvision's value='random' is not offered.\n"
            "Errors: a value that the type cannot hold, a number of values that is not the number of channels, an "
            "interval that ends before it begins, another rank, bytes or strings.",
     .attributes = Declared(),
     .traits = {.random = true},
     .python_module = "vision",
     .example = "V.RandomErasing(0.25, value=(124, 116, 104))",
     .sample = {.attributes = {{"p", "1.0"}, {"value", "9"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = Infer,
     .takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; }},
    RandomErasing::Make};

const KernelRegistration box_registration{
    {.name = "RandomErasingBox",
     .summary = "Gives the rectangle that RandomErasing erases.",
     .doc = "Has the attributes of RandomErasing and draws the same numbers; takes an image and gives int32 of shape "
            "(4,): left, top, width and height, which are 0 where nothing is erased.\n"
            "Errors: those of RandomErasing, but for the value.",
     .attributes = Declared(),
     .traits = {.random = true},
     .python_module = "internal",
     .example = "ds.to_device(\"cuda:0\")",
     .sample = {.attributes = {{"p", "1.0"}}},
     .infer_kernel = InferBox},
    RandomErasingBox::Make};

}  // namespace
}  // namespace headrace
