#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/fused/pixel_kernel.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {
namespace {

// Where the colours of a pixel are.
struct ColorOrder {
  int channels;
  int red;
  int green;
  int blue;
  int alpha;  // -1: it has none

  bool grey() const { return channels == 1; }
};

ColorOrder OrderOf(const std::string& name) {
  if (name == "RGB") return {3, 0, 1, 2, -1};
  if (name == "BGR") return {3, 2, 1, 0, -1};
  if (name == "RGBA") return {4, 0, 1, 2, 3};
  if (name == "BGRA") return {4, 2, 1, 0, 3};
  return {1, 0, 0, 0, -1};
}

// Computed in this order, each operation rounded to float32.
float LumaOf(const float (&rgb)[3]) { return 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2]; }
uint8_t LumaOf(const uint8_t (&rgb)[3]) { return Luma(rgb); }

class ColorOrderStep : public PixelStep {
 public:
  ColorOrderStep(const ir::Attributes& attributes)
      : name_(attributes.String("source")), from_(OrderOf(name_)), to_(OrderOf(attributes.String("target"))) {}

  absl::Status Check(int64_t channels, std::string_view got) const {
    if (channels == from_.channels) return absl::OkStatus();
    return GraphError("needs an image of ", from_.channels, " channel", from_.channels == 1 ? "" : "s", ", ", name_,
                      "; got ", got);
  }
  int64_t channels_after() const { return to_.channels; }

  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const override {
    const std::string got = Cat(DTypeName(before.dtype), " of ", before.channels, " channels");
    if (before.dtype != DType::kUInt8 && before.dtype != DType::kFloat32) {
      return GraphError("needs an image of uint8 or float32; got ", got);
    }
    HEADRACE_RETURN_IF_ERROR(Check(before.channels, got));
    return PixelFormat{before.dtype, to_.channels};
  }
  bool by_value() const override { return false; }
  void Run(const PixelRow& row, const PixelFacts&, uint8_t* target) const override {
    if (row.dtype == DType::kUInt8) {
      Convert(row.values, row.pixels, target);
    } else {
      Convert(reinterpret_cast<const float*>(row.values), row.pixels, reinterpret_cast<float*>(target));
    }
  }

 private:
  template <typename T>
  void Convert(const T* from, int64_t pixels, T* to) const {
    constexpr T kOpaque = std::is_same_v<T, uint8_t> ? T{255} : T{1};
    for (int64_t i = 0; i < pixels; ++i, from += from_.channels, to += to_.channels) {
      const T rgb[3] = {from[from_.red], from[from_.green], from[from_.blue]};
      const T alpha = from_.alpha < 0 ? kOpaque : from[from_.alpha];
      if (to_.grey()) {
        *to = from_.grey() ? rgb[0] : LumaOf(rgb);
        continue;
      }
      to[to_.red] = rgb[0];
      to[to_.green] = rgb[1];
      to[to_.blue] = rgb[2];
      if (to_.alpha >= 0) to[to_.alpha] = alpha;
    }
  }

  const std::string name_;
  const ColorOrder from_;
  const ColorOrder to_;
};

class ConvertColor : public PixelKernel {
 public:
  explicit ConvertColor(const ir::Attributes& attributes) : step_(attributes) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kByteOrFloat));
    HEADRACE_RETURN_IF_ERROR(step_.Check(image.channels, input.TypeName()));
    PixelSteps steps({image.height, image.width});
    steps.Add(step_);
    return RunPixelSteps(image, {}, steps, context.output());
  }
  void AddTo(PixelSteps& steps, RowRandom&) const override { steps.Add(step_); }

 private:
  ColorOrderStep step_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferConvertColor(const ir::Attributes& attributes,
                                                              absl::Span<const ir::ColumnType> inputs) {
  const ColorOrderStep step(attributes);
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kByteOrFloat));
  Shape shape = {ir::kUnknownDim, ir::kUnknownDim, step.channels_after()};
  if (type.shape) {
    const int64_t channels = type.shape->size() == 3 ? (*type.shape)[2] : 1;
    if (channels != ir::kUnknownDim) HEADRACE_RETURN_IF_ERROR(step.Check(channels, ir::TypeName(type)));
    shape = {(*type.shape)[0], (*type.shape)[1], step.channels_after()};
  }
  type.shape = shape;
  return std::vector{type};
}

ir::Attribute OrderAttribute(std::string name, std::string doc) {
  return {.name = std::move(name),
          .type = ir::AttributeType::kString,
          .doc = std::move(doc),
          .choices = {"RGB", "BGR", "RGBA", "BGRA", "GRAY"}};
}

const KernelRegistration convert_color_registration{
    {.name = "ConvertColor",
     .summary = "Converts an image from one order of its colours to another.",
     .doc =
         "Takes uint8 or float32 of shape (H, W, C), where C fits `source`, and for GRAY also (H, W), and gives the "
         "same dtype with the channels of `target`. Colours move as they are. An alpha that the source lacks is "
         "255, in float32 1, and one that the target lacks is dropped, as are those of OpenCV's cvtColor. GRAY from "
         "colours is the luma of Grayscale, for float32 0.299 R + 0.587 G + 0.114 B, and colours from GRAY are three "
         "equal channels.\n"
         "Errors: another number of channels, another dtype or rank, an image without pixels.",
     .attributes = {OrderAttribute("source", "The order that the image has."),
                    OrderAttribute("target", "The order that it gets.")},
     .traits = {.per_pixel = true},
     .python_module = "vision",
     .example = "V.ConvertColor(\"RGB\", \"BGR\")",
     .sample = {.attributes = {{"source", "'RGB'"}, {"target", "'BGR'"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferConvertColor},
    [](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
      return std::make_unique<ConvertColor>(attributes);
    }};

}  // namespace
}  // namespace headrace
