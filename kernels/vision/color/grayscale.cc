#include <algorithm>
#include <memory>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/fused/pixel_kernel.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/pixels/join_channels.h"
#include "kernels/vision/pixels/luma_values.h"
#include "kernels/vision/pixels/unit_colors.h"
#include "kernels/vision/pixels/unit_range.h"

namespace headrace {
namespace {

absl::Status CheckOutputChannels(int64_t channels) {
  if (channels == 1 || channels == 3) return absl::OkStatus();
  return GraphError("output_channels is ", channels, "; it must be 1 or 3");
}

absl::Status WrongChannels(std::string_view got) {
  return GraphError("needs an image of 1 channel or 3 (red, green, blue); got ", got);
}

// Of each pixel, so many times.
template <typename T, typename GrayOf>
void RepeatGray(int64_t width, int64_t times, const GrayOf& gray_of, T* target) {
  for (int64_t x = 0; x < width; ++x) target = std::fill_n(target, times, gray_of(x));
}

void GrayOfColors(const float* row, int64_t width, int64_t output_channels, float* target) {
  if (output_channels == 1) return FillLuma(row, width, target);
  BlendWithLuma(row, width, 0, target);
}

void GrayOfColors(const uint8_t* row, int64_t width, int64_t output_channels, uint8_t* target) {
  if (output_channels == 1) return FillLuma(row, width, target);
  ForPlanesWithLuma(row, width, [target](int64_t first, const PlanesWithLuma& planes) {
    JoinThreeChannels(planes.luma, planes.luma, planes.luma, planes.pixels, target + 3 * first);
  });
}

class GrayStep : public PixelStep {
 public:
  explicit GrayStep(int64_t output_channels) : output_channels_(output_channels) {}

  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const override {
    const bool computes = before.dtype == DType::kUInt8 || before.dtype == DType::kFloat32;
    if (!computes || (before.channels != 1 && before.channels != 3)) {
      return WrongChannels(Cat(DTypeName(before.dtype), " of ", before.channels, " channels"));
    }
    const bool computed = before.dtype == DType::kFloat32;
    return PixelFormat{before.dtype, output_channels_, true, computed};
  }
  bool by_value() const override { return false; }
  bool needs_unit() const override { return true; }
  void Run(const PixelRow& row, const PixelFacts&, uint8_t* target) const override {
    if (row.dtype == DType::kUInt8) {
      Gray<uint8_t>(row, target);
    } else {
      Gray<float>(row, target);
    }
  }

 private:
  template <typename T>
  void Gray(const PixelRow& row, uint8_t* target) const {
    const T* const values = reinterpret_cast<const T*>(row.values);
    T* const grays = reinterpret_cast<T*>(target);
    if (row.channels == 3) return GrayOfColors(values, row.pixels, output_channels_, grays);
    RepeatGray(row.pixels, output_channels_, [values](int64_t x) { return values[x]; }, grays);
  }

  int64_t output_channels_;
};

class Grayscale : public PixelKernel {
 public:
  explicit Grayscale(const ir::Attributes& attributes)
      : output_channels_(attributes.Int("output_channels")), step_(output_channels_) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_RETURN_IF_ERROR(CheckOutputChannels(attributes.Int("output_channels")));
    return std::make_unique<Grayscale>(attributes);
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kByteOrFloat));
    if (image.channels != 1 && image.channels != 3) return WrongChannels(input.TypeName());
    const Shape shape = {image.height, image.width, output_channels_};
    if (image.channels == 1 && output_channels_ == 1 && input.contiguous()) {
      HEADRACE_RETURN_IF_ERROR(CheckUnitRange(image));
      return input.Reshape(shape);
    }
    PixelSteps steps({image.height, image.width});
    steps.Add(step_);
    return RunPixelSteps(image, {}, steps, context.output());
  }
  void AddTo(PixelSteps& steps, RowRandom&) const override { steps.Add(step_); }

 private:
  int64_t output_channels_;
  GrayStep step_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferGrayscale(const ir::Attributes& attributes,
                                                           absl::Span<const ir::ColumnType> inputs) {
  const int64_t output_channels = attributes.Int("output_channels");
  HEADRACE_RETURN_IF_ERROR(CheckOutputChannels(output_channels));
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kByteOrFloat));
  Shape shape = {ir::kUnknownDim, ir::kUnknownDim, output_channels};
  if (type.shape) {
    const int64_t channels = type.shape->size() == 3 ? (*type.shape)[2] : 1;
    if (channels != 1 && channels != 3 && channels != ir::kUnknownDim) return WrongChannels(ir::TypeName(type));
    shape = {(*type.shape)[0], (*type.shape)[1], output_channels};
  }
  type.shape = shape;
  return std::vector{type};
}

const KernelRegistration grayscale_registration{
    {.name = "Grayscale",
     .summary = "Converts a colour image to greyscale.",
     .doc =
         "Takes uint8, or float32 of 0 … 1, of shape (H, W, 3), in the order red, green, blue, or (H, W, 1) or (H, W), "
         "and gives the same dtype of shape (H, W, output_channels); values stay in the units of the input.\n"
         "For uint8 the luma is that of Pillow's convert('L'), bit for bit: (19595 R + 38470 G + 7471 B + 32768) / "
         "65536, truncated; torchvision gives the same for Pillow images, and for tensors a value that may be one "
         "less. For float32 it is that of torchvision's tensors, 0.2989 R + 0.587 G + 0.114 B. An image of one channel "
         "keeps its values.\n"
         "Errors: another number of channels, another dtype or rank, floats that are not 0 … 1, an image without "
         "pixels, and output_channels other than 1 and 3.",
     .attributes = {{.name = "output_channels",
                     .type = ir::AttributeType::kInt,
                     .doc = "1, or 3 for three equal channels.",
                     .default_value = "1",
                     .minimum = 1,
                     .maximum = 3}},
     .traits = {.per_pixel = true},
     .python_module = "vision",
     .example = "V.Grayscale(3)",
     .sample = {.inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferGrayscale,
     .is_kernel_identity =
         [](const ir::Attributes& attributes, absl::Span<const ir::ColumnType> inputs) {
           // Floats are checked.
           if (attributes.Int("output_channels") != 1 || inputs[0].dtype != DType::kUInt8) return false;
           if (!AlwaysAnImage(inputs[0], PixelTypes::kByteOrFloat)) return false;
           return inputs[0].shape->size() == 3 && (*inputs[0].shape)[2] == 1;
         }},
    Grayscale::Make};

}  // namespace
}  // namespace headrace
