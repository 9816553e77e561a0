#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "kernels/vision/fused/pixel_kernel.h"
#include "kernels/vision/image/image.h"

namespace headrace {
namespace {

// As Python's colorsys, each operation rounded to float32.
struct ToHsv {
  static void Convert(const float (&rgb)[3], float* hsv) {
    const float greatest = std::max({rgb[0], rgb[1], rgb[2]});
    const float least = std::min({rgb[0], rgb[1], rgb[2]});
    const float range = greatest - least;
    hsv[0] = hsv[1] = 0;
    hsv[2] = greatest;
    // Grey has no hue. A NaN may make the range NaN, too.
    if (!(range > 0)) return;
    hsv[1] = range / greatest;
    const float red = (greatest - rgb[0]) / range;
    const float green = (greatest - rgb[1]) / range;
    const float blue = (greatest - rgb[2]) / range;
    float hue = 4 + green - red;
    if (rgb[0] == greatest) {
      hue = blue - green;
    } else if (rgb[1] == greatest) {
      hue = 2 + red - blue;
    }
    hue /= 6;
    hsv[0] = hue < 0 ? hue + 1 : hue;
  }
};

struct ToRgb {
  static void Convert(const float (&hsv)[3], float* rgb) {
    const float sixths = hsv[0] * 6;
    const float whole = std::floor(sixths);
    const float part = sixths - whole;
    const float value = hsv[2];
    const float low = value * (1 - hsv[1]);
    const float falling = value * (1 - hsv[1] * part);
    const float rising = value * (1 - hsv[1] * (1 - part));
    const float turn = whole - 6 * std::floor(whole / 6);
    if (turn < 1) return Set(value, rising, low, rgb);
    if (turn < 2) return Set(falling, value, low, rgb);
    if (turn < 3) return Set(low, value, rising, rgb);
    if (turn < 4) return Set(low, falling, value, rgb);
    if (turn < 5) return Set(rising, low, value, rgb);
    Set(value, low, falling, rgb);
  }
  static void Set(float red, float green, float blue, float* rgb) {
    rgb[0] = red;
    rgb[1] = green;
    rgb[2] = blue;
  }
};

absl::Status CheckHsv(DType dtype, int64_t channels, std::string_view got) {
  const bool takes = dtype == DType::kUInt8 || dtype == DType::kFloat32 || dtype == DType::kUnknown;
  if (takes && (channels == 3 || channels == ir::kUnknownDim)) return absl::OkStatus();
  return GraphError("needs an image of uint8 or float32 with 3 channels; got ", got);
}

template <typename To>
class HsvStep : public PixelStep {
 public:
  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const override {
    const std::string got = Cat(DTypeName(before.dtype), " of ", before.channels, " channels");
    HEADRACE_RETURN_IF_ERROR(CheckHsv(before.dtype, before.channels, got));
    return PixelFormat{DType::kFloat32, 3};
  }
  bool by_value() const override { return false; }
  void Run(const PixelRow& row, const PixelFacts&, uint8_t* target) const override {
    auto* to = reinterpret_cast<float*>(target);
    for (int64_t i = 0; i < row.pixels; ++i, to += 3) {
      float from[3];
      for (int64_t c = 0; c < 3; ++c) {
        from[c] = row.has_floats() ? row.floats()[3 * i + c] : static_cast<float>(row.values[3 * i + c]) / 255;
      }
      To::Convert(from, to);
    }
  }
};

template <typename To>
class HsvKernel : public ImagePixelKernel {
 public:
  explicit HsvKernel(const ir::Attributes&) {}
  void AddTo(PixelSteps& steps, RowRandom&) const override { steps.Add(step_); }

 private:
  HsvStep<To> step_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferHsv(const ir::Attributes&, absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kByteOrFloat));
  int64_t channels = ir::kUnknownDim;
  if (type.shape) channels = type.shape->size() == 3 ? (*type.shape)[2] : 1;
  HEADRACE_RETURN_IF_ERROR(CheckHsv(type.dtype, channels, ir::TypeName(inputs[0])));
  type.dtype = DType::kFloat32;
  if (type.shape) (*type.shape)[2] = 3;
  return std::vector{type};
}

ir::Declaration DeclaredHsv(std::string name, std::string summary, std::string_view says) {
  ir::Declaration declaration;
  declaration.example = Cat("V.", name, "()");
  declaration.name = std::move(name);
  declaration.summary = std::move(summary);
  declaration.doc =
      Cat("Takes float32 of shape (H, W, 3), or uint8, which is divided by 255 first, and gives float32 "
          "of that shape. ",
          says, "\nErrors: another number of channels, another dtype or rank, an image without pixels.");
  declaration.traits.per_pixel = true;
  declaration.python_module = "vision";
  declaration.sample.inputs = {ir::SampleInput::kImage};
  declaration.infer_kernel = InferHsv;
  return declaration;
}

const KernelRegistration rgb_to_hsv_registration{
    DeclaredHsv(
        "RgbToHsv", "Converts an image from red, green, blue to hue, saturation, value.",
        "All are 0 … 1, and the hue is a part of the circle from red over green and blue: Python's colorsys, in "
        "float32, and MindSpore's RgbToHsv."),
    Makes<HsvKernel<ToHsv>>()};
const KernelRegistration hsv_to_rgb_registration{
    DeclaredHsv("HsvToRgb", "Converts an image from hue, saturation, value to red, green, blue.",
                "It is the inverse of RgbToHsv: Python's colorsys, in float32, and MindSpore's HsvToRgb. Hues beyond "
                "0 … 1 go on around the circle."),
    Makes<HsvKernel<ToRgb>>()};

}  // namespace
}  // namespace headrace
