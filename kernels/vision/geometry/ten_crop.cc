#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/corner_crops.h"
#include "kernels/vision/geometry/flip.h"

namespace headrace {
namespace {

constexpr size_t kTenCropCrops = 10;

class TenCrop : public Kernel {
 public:
  explicit TenCrop(const ir::Attributes& attributes) : size_(attributes), vertical_(attributes.Bool("vertical_flip")) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    Tensors crops;
    for (const Tensor& input : inputs) {
      HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kFixedSize));
      HEADRACE_RETURN_IF_ERROR(AppendCorners(size_, image, context.output(), crops));
      HEADRACE_ASSIGN_OR_RETURN(const Tensor flipped, vertical_ ? FlippedTopBottom(image, context.output())
                                                                : FlippedLeftRight(image, context.output()));
      HEADRACE_ASSIGN_OR_RETURN(const Image mirror, ImageOf(flipped, PixelTypes::kFixedSize));
      HEADRACE_RETURN_IF_ERROR(AppendCorners(size_, mirror, context.output(), crops));
    }
    return crops;
  }

 private:
  const CropSize size_;
  const bool vertical_;
};

const KernelRegistration ten_crop_registration{
    {.name = "TenCrop",
     .summary = "Cuts the four corners and the middle out of an image and its mirror image, a column each.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives ten columns of that type with the "
            "height and width of `size`: upper left, upper right, lower left, lower right and the middle, then those "
            "of the mirror image. Of several columns, such as an image and its mask, first come all crops of the "
            "first. torchvision's TenCrop.\n"
            "Errors: an image smaller than the crop, another rank, an image without pixels, bytes or strings.",
     .max_inputs = -1,
     .attributes = {CornerSizeAttribute(),
                    {.name = "vertical_flip",
                     .type = ir::AttributeType::kBool,
                     .doc = "The mirror image has top and bottom exchanged, instead of left and right.",
                     .default_value = "False"}},
     .python_module = "vision",
     .example = "V.TenCrop(224)",
     .sample = {.attributes = {{"size", "(8, 6)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel =
         [](const ir::Attributes& attributes, absl::Span<const ir::ColumnType> inputs) {
           return InferCorners(attributes, inputs, kTenCropCrops);
         },
     .takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; },
     .clips = ir::Clips::kByFrame},
    Makes<TenCrop>()};

}  // namespace
}  // namespace headrace
