#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/fused/pixel_kernel.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/pixels/split_channels.h"

namespace headrace {
namespace {

class Hwc2Chw : public PixelKernel {
 public:
  explicit Hwc2Chw(const ir::Attributes&) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kFixedSize));
    const Shape shape = {image.channels, image.height, image.width};
    // With one channel the layouts are equal.
    if (image.channels == 1 && input.contiguous()) return input.Reshape(shape);
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(image.dtype(), shape));
    const auto item = static_cast<int64_t>(ItemSize(image.dtype()));
    const int64_t row_bytes = image.width * item;
    for (int64_t y = 0; y < image.height; ++y) {
      SplitChannels(image.row(y), image.width, image.channels, item, image.height * row_bytes,
                    output.mutable_raw() + y * row_bytes);
    }
    return output;
  }
  bool moves_channels_first() const override { return true; }
  void AddTo(PixelSteps& steps, RowRandom&) const override { steps.MoveChannelsFirst(); }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferHwc2chw(const ir::Attributes&,
                                                         absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  Shape shape = {ir::kUnknownDim, ir::kUnknownDim, ir::kUnknownDim};
  if (type.shape) shape = {type.shape->size() == 3 ? (*type.shape)[2] : 1, (*type.shape)[0], (*type.shape)[1]};
  type.shape = shape;
  return std::vector{type};
}

const KernelRegistration hwc2chw_registration{
    {.name = "HWC2CHW",
     .summary = "Moves the channels of an image to the front.",
     .doc = "Takes numbers of any type, of shape (H, W, C), and gives the same type of shape (C, H, W), as PyTorch "
            "expects images; (H, W) becomes (1, H, W).\n"
            "Errors: another rank, bytes or strings.",
     .traits = {.layout = true},
     .python_module = "vision",
     .example = "V.HWC2CHW()",
     .sample = {.inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferHwc2chw},
    Makes<Hwc2Chw>()};

}  // namespace
}  // namespace headrace
