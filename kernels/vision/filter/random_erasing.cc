#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/numbers/number.h"
#include "kernels/vision/fused/pixel_kernel.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/image/image_size.h"
#include "kernels/vision/image/resized_crop_box.h"
#include "kernels/vision/image/window.h"
#include "kernels/vision/pixels/normal_numbers.h"

namespace headrace {
namespace {

constexpr int kAttempts = 10;
constexpr int64_t kBoxNumbers = 4;
constexpr std::string_view kBoxKernel = "RandomErasingBox";

// Nullopt if none of the attempts fits.
std::optional<Window> DrawErased(ImageSize image, Interval scale, Interval ratio, RowRandom& random) {
  const double area = static_cast<double>(image.height) * static_cast<double>(image.width);
  const Interval log_ratio = {std::log(ratio.low), std::log(ratio.high)};
  for (int i = 0; i < kAttempts; ++i) {
    // Sides are rounded half to even, as Python does.
    const double erased_area = area * random.Uniform(scale.low, scale.high);
    const double aspect = std::exp(random.Uniform(log_ratio.low, log_ratio.high));
    Window erased;
    const double height = std::nearbyint(std::sqrt(erased_area * aspect));
    const double width = std::nearbyint(std::sqrt(erased_area / aspect));
    // Compared as they are: they may be past all integers.
    if (!(height < static_cast<double>(image.height) && width < static_cast<double>(image.width))) continue;
    erased.height = static_cast<int64_t>(height);
    erased.width = static_cast<int64_t>(width);
    erased.top = static_cast<int64_t>(random.Below(image.height - erased.height + 1));
    erased.left = static_cast<int64_t>(random.Below(image.width - erased.width + 1));
    return erased;
  }
  return std::nullopt;
}

absl::Status NotPlanes(std::string_view got) { return GraphError("layout='CHW' needs shape (C, H, W); got ", got); }

// Either one plane of pixels with all channels, or one plane for each channel.
struct Planes {
  Tensor tensor;
  int64_t count = 1;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 1;  // of a pixel of a plane

  int64_t row_bytes() const { return width * channels * static_cast<int64_t>(ItemSize(tensor.dtype())); }
  ImageSize size() const { return {height, width}; }
  Image AllChannels() const {
    return {.tensor = tensor, .pixels = tensor.raw(), .height = height, .width = width, .channels = count * channels};
  }
};

absl::StatusOr<Planes> PlanesOf(const Tensor& input, bool channels_first) {
  HEADRACE_RETURN_IF_ERROR(CheckImage(input, PixelTypes::kFixedSize));
  if (channels_first && input.rank() != 3) return NotPlanes(input.TypeName());
  Planes planes;
  HEADRACE_ASSIGN_OR_RETURN(planes.tensor, input.Contiguous());
  planes.count = channels_first ? input.dim(0) : 1;
  planes.height = input.dim(channels_first ? 1 : 0);
  planes.width = input.dim(channels_first ? 2 : 1);
  planes.channels = input.rank() == 3 && !channels_first ? input.dim(2) : 1;
  return planes;
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
  std::optional<Window> Draw(ImageSize image, RowRandom& random) const {
    if (random.Uniform() >= probability) return std::nullopt;
    return DrawErased(image, scale, ratio, random);
  }
};

// Writes the value into the window that was drawn for the image.
class ErasingStep : public PixelStep {
 public:
  explicit ErasingStep(std::vector<ir::Number> value) : value_(std::move(value)) {}

  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const override {
    const auto count = static_cast<int64_t>(value_.size());
    if (count != 1 && count != before.channels) return GraphError(count, " values for ", before.channels, " channels");
    std::vector<uint8_t> stored(ItemSize(before.dtype));
    for (const ir::Number& value : value_) {
      HEADRACE_RETURN_IF_ERROR(StoreNumber("value", value, before.dtype, stored.data()));
    }
    return PixelFormat{before.dtype, before.channels, before.has_channel_axis};
  }
  bool by_place() const override { return true; }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    const Window& erased = facts.window;
    const auto item = static_cast<int64_t>(ItemSize(row.dtype));
    std::memcpy(target, row.values, static_cast<size_t>(row.count() * item));
    if (row.y < erased.top || row.y >= erased.top + erased.height) return;
    FillRun(PixelOf(row), erased.width, target + erased.left * row.channels * item);
  }

 private:
  // After has taken the values for the row's type.
  std::vector<uint8_t> PixelOf(const PixelRow& row) const {
    const size_t item = ItemSize(row.dtype);
    std::vector<uint8_t> pixel(static_cast<size_t>(row.channels) * item);
    for (int64_t c = 0; c < row.channels; ++c) {
      const ir::Number& value = value_[value_.size() == 1 ? 0 : row.plane < 0 ? c : row.plane];
      StoreNumber("value", value, row.dtype, &pixel[static_cast<size_t>(c) * item]).IgnoreError();
    }
    return pixel;
  }

  std::vector<ir::Number> value_;
};

absl::Status CheckFilling(const ir::Attributes& attributes) {
  const std::vector<ir::Number> value = attributes.Numbers("value");
  const auto is_zero = [](const ir::Number& each) { return std::visit([](auto number) { return number == 0; }, each); };
  if (!attributes.Bool("noise") || std::all_of(value.begin(), value.end(), is_zero)) return absl::OkStatus();
  return GraphError("takes either value or noise=True; both are given");
}

absl::Status NoNoise(std::string_view got) {
  return GraphError("noise=True needs float32, as T.TypeCast and V.Normalize give; got ", got);
}

absl::StatusOr<Tensor> Copied(const Planes& planes, const Shape& shape, KernelContext& context) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor copy, context.AllocateOutput(planes.tensor.dtype(), shape));
  std::memcpy(copy.mutable_raw(), planes.tensor.raw(), planes.tensor.bytes());
  return copy;
}

class ErasingByValue : public PixelKernel {
 public:
  ErasingByValue(const ir::Attributes& attributes, Erasing erasing)
      : erasing_(erasing),
        value_(attributes.Numbers("value")),
        channels_first_(attributes.String("layout") == "CHW"),
        step_(value_) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Planes planes, PlanesOf(input, channels_first_));
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<uint8_t> pixel, PixelOf("value", value_, planes.AllChannels()));
    const std::optional<Window> erased = erasing_.Draw(planes.size(), context.random());
    if (!erased) return input;
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, Copied(planes, input.shape(), context));
    Fill(planes, *erased, pixel, output.mutable_raw());
    return output;
  }
  bool Takes(bool channels_first) const override { return channels_first == channels_first_; }
  void AddTo(PixelSteps& steps, RowRandom& random) const override {
    const std::optional<Window> erased = erasing_.Draw(steps.image(), random);
    if (!erased) return steps.Require(step_);
    steps.AddIn(*erased, step_);
  }

 private:
  static void Fill(const Planes& planes, const Window& erased, absl::Span<const uint8_t> pixel, uint8_t* output) {
    const size_t pixel_bytes = pixel.size() / static_cast<size_t>(planes.count);
    for (int64_t plane = 0; plane < planes.count; ++plane) {
      const auto own = pixel.subspan(static_cast<size_t>(plane) * pixel_bytes, pixel_bytes);
      const std::vector<uint8_t> repeated(own.begin(), own.end());
      for (int64_t y = erased.top; y < erased.top + erased.height; ++y) {
        uint8_t* const row = output + (plane * planes.height + y) * planes.row_bytes();
        FillRun(repeated, erased.width, row + erased.left * static_cast<int64_t>(pixel_bytes));
      }
    }
  }

  Erasing erasing_;
  std::vector<ir::Number> value_;
  bool channels_first_;
  ErasingStep step_;
};

// No pixel kernel: how many numbers it draws depends on the channels.
class ErasingByNoise : public UnaryKernel {
 public:
  ErasingByNoise(const ir::Attributes& attributes, Erasing erasing)
      : erasing_(erasing), channels_first_(attributes.String("layout") == "CHW") {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    if (input.dtype() != DType::kFloat32) return NoNoise(input.TypeName());
    HEADRACE_ASSIGN_OR_RETURN(const Planes planes, PlanesOf(input, channels_first_));
    const std::optional<Window> erased = erasing_.Draw(planes.size(), context.random());
    if (!erased) return input;
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, Copied(planes, input.shape(), context));
    Fill(planes, *erased, context.random(), output.mutable_data<float>());
    return output;
  }

 private:
  // Draws row by row, pixel by pixel, in either layout, so that both have the same numbers.
  static void Fill(const Planes& planes, const Window& erased, RowRandom& random, float* output) {
    std::vector<float> drawn(static_cast<size_t>(erased.height * erased.width * planes.count * planes.channels));
    FillNormal(random, absl::MakeSpan(drawn));
    const float* next = drawn.data();
    for (int64_t y = erased.top; y < erased.top + erased.height; ++y) {
      for (int64_t x = erased.left; x < erased.left + erased.width; ++x) {
        for (int64_t plane = 0; plane < planes.count; ++plane) {
          const int64_t at = ((plane * planes.height + y) * planes.width + x) * planes.channels;
          std::copy_n(next, planes.channels, output + at);
          next += planes.channels;
        }
      }
    }
  }

  Erasing erasing_;
  bool channels_first_;
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeErasing(const ir::Attributes& attributes) {
  HEADRACE_RETURN_IF_ERROR(CheckFilling(attributes));
  HEADRACE_ASSIGN_OR_RETURN(const Erasing erasing, Erasing::Of(attributes));
  if (attributes.Bool("noise")) return std::make_unique<ErasingByNoise>(attributes, erasing);
  return std::make_unique<ErasingByValue>(attributes, erasing);
}

// The rectangle that RandomErasing draws; used where a device erases.
class RandomErasingBox : public UnaryKernel {
 public:
  explicit RandomErasingBox(Erasing erasing) : erasing_(erasing) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const Erasing erasing, Erasing::Of(attributes));
    return std::make_unique<RandomErasingBox>(erasing);
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kFixedSize));
    const Window erased = erasing_.Draw({image.height, image.width}, context.random()).value_or(Window());
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

absl::StatusOr<std::vector<ir::ColumnType>> InferRandomErasing(const ir::Attributes& attributes,
                                                               absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckFilling(attributes));
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  const std::string got = ir::TypeName(inputs[0]);
  if (attributes.String("layout") == "CHW" && type.shape && type.shape->size() != 3) return NotPlanes(got);
  const bool noise = attributes.Bool("noise");
  if (noise && type.dtype != DType::kUnknown && type.dtype != DType::kFloat32) return NoNoise(got);
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
           .in_words = "a number, or one per channel; for torchvision's value='random' write noise=True",
           .default_value = "0",
           .length = ir::ListLength::OfChannels(),
           .keeps_whole = true},
          {.name = "noise",
           .type = ir::AttributeType::kBool,
           .doc = "Whether each erased number becomes a normal one of its own, of mean 0 and deviation 1, instead of "
                  "`value`: torchvision's value='random', for float32. The bits are the same on every CPU.",
           .default_value = "False"},
          {.name = "layout",
           .type = ir::AttributeType::kString,
           .doc = "The axes: HWC channels last, or none; CHW channels first.",
           .default_value = "'HWC'",
           .choices = {"HWC", "CHW"}}};
}

const KernelRegistration random_erasing_registration{
    {.name = "RandomErasing",
     .summary = "Erases a random rectangle in some rows, chosen at random.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), or (C, H, W) with layout='CHW', and gives the "
            "same type and shape, with a rectangle of `value` with probability `p`. The rectangle is drawn as "
            "torchvision's RandomErasing draws it: its area's share uniform in `scale`, its ratio log-uniform in "
            "`ratio`, its position uniform; it must be smaller than the image on both sides, and after ten that are "
            "not, the image stays as it is. The layout changes nothing of what is drawn.\n"
            "Errors: a value that the type cannot hold, a number of values that is not the number of channels, an "
            "interval that ends before it begins, another rank, bytes or strings, `noise` with another type than "
            "float32 or with a `value`.",
     .attributes = Declared(),
     .traits = {.random = true, .per_pixel = true},
     .python_module = "vision",
     .example = "V.RandomErasing(0.25, value=(124, 116, 104))",
     .sample = {.attributes = {{"p", "1.0"}, {"value", "9"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferRandomErasing,
     .takes_layout = [](const ir::Attributes& attributes,
                        bool channels_first) { return (attributes.String("layout") == "CHW") == channels_first; },
     .companions = {{ir::CompanionRole::kDraws, std::string(kBoxKernel)}},
     // A rectangle of 0.45 of the area of 2 × 2 pixels fits 3 × 3 nowhere but in the middle.
     .on_device = {.work = ir::DeviceWork::kErases,
                   .with = [](const ir::Attributes& attributes) { return !attributes.Bool("noise"); },
                   .erases_middle = {{"p", "1.0"}, {"scale", "(0.45, 0.45)"}, {"ratio", "(1.0, 1.0)"}}}},
    MakeErasing};

const KernelRegistration box_registration{
    {.name = std::string(kBoxKernel),
     .written_as = "RandomErasing",
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
