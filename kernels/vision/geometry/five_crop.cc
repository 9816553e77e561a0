#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/corner_crops.h"

namespace headrace {
namespace {

constexpr size_t kFiveCropCrops = 5;

class FiveCrop : public Kernel {
 public:
  explicit FiveCrop(const ir::Attributes& attributes) : size_(attributes) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    Tensors crops;
    for (const Tensor& input : inputs) {
      HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kFixedSize));
      HEADRACE_RETURN_IF_ERROR(AppendCorners(size_, image, context.output(), crops));
    }
    return crops;
  }

 private:
  const CropSize size_;
};

const KernelRegistration five_crop_registration{
    {.name = "FiveCrop",
     .summary = "Cuts the four corners and the middle out of an image, a column each.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives five columns of that type with the "
            "height and width of `size`: upper left, upper right, lower left, lower right, and the middle. Of several "
            "columns, such as an image and its mask, first come all crops of the first. torchvision's FiveCrop.\n"
            "Errors: an image smaller than the crop, another rank, an image without pixels, bytes or strings.",
     .max_inputs = -1,
     .attributes = {CornerSizeAttribute()},
     .python_module = "vision",
     .example = "V.FiveCrop(224)",
     .sample = {.attributes = {{"size", "(8, 6)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel =
         [](const ir::Attributes& attributes, absl::Span<const ir::ColumnType> inputs) {
           return InferCorners(attributes, inputs, kFiveCropCrops);
         },
     .takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; },
     .clips = ir::Clips::kByFrame},
    Makes<FiveCrop>()};

}  // namespace
}  // namespace headrace
