#include <cstring>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/image/image.h"

namespace headrace {
namespace {

class PixelMask : public UnaryKernel {
 public:
  explicit PixelMask(const ir::Attributes&) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kFixedSize));
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(DType::kBool, {image.height, image.width}));
    std::memset(output.mutable_raw(), 1, output.bytes());
    return output;
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferPixelMask(const ir::Attributes&,
                                                           absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(const ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  Shape shape = {ir::kUnknownDim, ir::kUnknownDim};
  if (type.shape) shape = {(*type.shape)[0], (*type.shape)[1]};
  return std::vector{ir::ColumnType::Of(DType::kBool, shape)};
}

const KernelRegistration pixel_mask_registration{
    {.name = "PixelMask",
     .summary = "Gives a mask of an image in which every pixel is marked, for batches that pad.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives bool of shape (H, W), all True, as a "
            "column beside the image: ds.map(V.PixelMask(), \"image\", \"mask\"). A batch with pad=True pads it with "
            "False, so that the mask says which pixels are an image's own: the pixel_mask of Hugging Face's DETR. "
            "T.Mask(\"==\", 0) above the batch gives the mask of the original DETR, which is True where the batch "
            "pads.\n"
            "Errors: another rank, an image without pixels, bytes or strings.",
     .attributes = {},
     .python_module = "vision",
     .example = "V.PixelMask()",
     .sample = {.inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferPixelMask,
     .takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; },
     .clips = ir::Clips::kByFrame},
    Makes<PixelMask>()};

}  // namespace
}  // namespace headrace
