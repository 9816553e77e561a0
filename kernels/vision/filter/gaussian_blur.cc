#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/image/resized_crop_box.h"
#include "kernels/vision/pixels/gaussian_filter.h"

namespace headrace {
namespace {

absl::Status CheckSize(const std::vector<int64_t>& size) {
  for (const int64_t side : size) {
    if (side % 2 == 0) return GraphError("kernel_size has an even number; the middle of the kernel is a pixel: ", side);
  }
  return absl::OkStatus();
}

absl::Status KernelTooLarge(const std::vector<int64_t>& size, std::string_view image) {
  return GraphError("kernel_size (", size[0], ", ", size[1], ") is too large for the image ", image,
                    ", whose sides must be greater than half of it");
}

// One number is the only one.
absl::StatusOr<Interval> SigmaOf(const ir::Attributes& attributes) {
  const std::vector<double> given = attributes.Floats("sigma");
  if (given.size() == 1) return Interval{given[0], given[0]};
  return Interval::Of(attributes, "sigma");
}

// The deviations along y and x; empty: one is drawn for both.
std::vector<double> FixedSigmas(const ir::Attributes& attributes) {
  return attributes.IsNone("axis_sigma") ? std::vector<double>() : attributes.Floats("axis_sigma");
}

class GaussianBlur : public UnaryKernel {
 public:
  GaussianBlur(std::vector<int64_t> size, Interval sigma, std::vector<double> fixed)
      : size_(std::move(size)), sigma_(sigma), fixed_(std::move(fixed)) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_RETURN_IF_ERROR(CheckSize(attributes.Ints("kernel_size")));
    HEADRACE_ASSIGN_OR_RETURN(const Interval sigma, SigmaOf(attributes));
    return std::make_unique<GaussianBlur>(attributes.Ints("kernel_size"), sigma, FixedSigmas(attributes));
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kByteOrFloat));
    if (image.height <= size_[0] / 2 || image.width <= size_[1] / 2) return KernelTooLarge(size_, input.TypeName());
    const double drawn = fixed_.empty() ? context.random().Uniform(sigma_.low, sigma_.high) : 0;
    const std::vector<float> down = GaussianWeights(size_[0], fixed_.empty() ? drawn : fixed_[0]);
    const std::vector<float> along = GaussianWeights(size_[1], fixed_.empty() ? drawn : fixed_[1]);
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, AllocateLike(image, image.height, image.width, context.output()));
    FilterByWeights(image, down, along, output.mutable_raw());
    return output;
  }

 private:
  std::vector<int64_t> size_;
  Interval sigma_;
  std::vector<double> fixed_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferGaussianBlur(const ir::Attributes& attributes,
                                                              absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckSize(attributes.Ints("kernel_size")));
  HEADRACE_RETURN_IF_ERROR(SigmaOf(attributes).status());
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kByteOrFloat));
  const std::vector<int64_t> size = attributes.Ints("kernel_size");
  for (size_t axis = 0; type.shape && axis < size.size(); ++axis) {
    const int64_t side = (*type.shape)[axis];
    if (side != ir::kUnknownDim && side <= size[axis] / 2) return KernelTooLarge(size, ir::TypeName(type));
  }
  return std::vector{type};
}

const KernelRegistration gaussian_blur_registration{
    {.name = "GaussianBlur",
     .summary = "Blurs an image with a Gaussian.",
     .doc = "Takes uint8 or float32 of shape (H, W, C) or (H, W) and gives the same type and shape. The standard "
            "deviation is drawn uniformly from `sigma`, one for each image; beyond the border the image is mirrored "
            "without its outermost pixels; uint8 is rounded. torchvision's GaussianBlur of tensors, within one level. "
            "With `axis_sigma` nothing is drawn, and each axis has a deviation of its own.\n"
            "Errors: an even kernel_size, or one of which half is not less than the image's side; another dtype or "
            "rank.",
     .attributes = {{.name = "kernel_size",
                     .type = ir::AttributeType::kInts,
                     .doc = "The kernel's (height, width) in pixels, odd numbers, or one for both.",
                     .in_words = "a whole number or (height, width)",
                     .minimum = 1,
                     .maximum = 1023,
                     .lengths = {2},
                     .broadcast = true},
                    {.name = "sigma",
                     .type = ir::AttributeType::kFloats,
                     .doc = "The least and the greatest standard deviation in pixels, or one number for both.",
                     .default_value = "(0.1, 2.0)",
                     .minimum = 0,
                     .maximum = 1e6,
                     .exclusive_minimum = true,
                     .lengths = {1, 2}},
                    {.name = "axis_sigma",
                     .type = ir::AttributeType::kFloats,
                     .doc = "The standard deviations along (height, width), in place of one drawn from `sigma`.",
                     .default_value = "None",
                     .nullable = true,
                     .minimum = 0,
                     .maximum = 1e6,
                     .exclusive_minimum = true,
                     .lengths = {2}}},
     .traits = {.random = true, .leaves_places = true},
     .python_module = "vision",
     .example = "V.GaussianBlur(5, sigma=(0.1, 2.0))",
     .sample = {.attributes = {{"kernel_size", "(5, 3)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferGaussianBlur,
     .takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; },
     .clips = ir::Clips::kByFrame},
    GaussianBlur::Make};

}  // namespace
}  // namespace headrace
