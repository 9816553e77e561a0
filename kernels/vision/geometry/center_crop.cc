#include <string>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/image/centered_begin.h"
#include "kernels/vision/image/size_attribute.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

constexpr ir::Number kCenterCropZeros[] = {int64_t{0}};
constexpr absl::Span<const ir::Number> kZero(kCenterCropZeros);

Centering CenteringOf(const std::string& rounding) {
  if (rounding == "even") return Centering::kEven;
  return rounding == "down" ? Centering::kDown : Centering::kFloor;
}

class CenterCrop : public GeometricKernel {
 public:
  explicit CenterCrop(const ir::Attributes& attributes)
      : size_(attributes.Ints("size")), centering_(CenteringOf(attributes.String("rounding"))) {}

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    plan.Cut({CenteredBegin(plan.height(), size_[0], centering_), CenteredBegin(plan.width(), size_[1], centering_),
              size_[0], size_[1]},
             Border::kConstant, kZero);
    return absl::OkStatus();
  }

 private:
  std::vector<int64_t> size_;
  Centering centering_;
};

const MovingRegistration center_crop_registration{
    {.name = "CenterCrop",
     .summary = "Cuts a rectangle out of the middle of an image.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type with the height and "
            "width of `size`. A smaller image is padded with zeros. Follows torchvision's CenterCrop to the pixel.\n"
            "Errors: another rank, bytes or strings, and an image without pixels.",
     .attributes =
         {SizeAttribute(),
          {.name = "rounding",
           .type = ir::AttributeType::kString,
           .doc = "Where an odd number of pixels is cut away: even: the half is rounded to an even number, as "
                  "torchvision does; down: the rectangle begins at (H - h) // 2, as in MXNet; floor: the same, and "
                  "where a smaller image is padded, the odd pixel of padding is at the top and left, as in "
                  "Hugging Face's image processors; otherwise it is at the bottom and right.",
           .default_value = "'even'",
           .choices = {"even", "down", "floor"}}},
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.CenterCrop(224)",
     .sample = {.attributes = {{"size", "20"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferCutToSize,
     .is_kernel_identity =
         [](const ir::Attributes& attributes, absl::Span<const ir::ColumnType> inputs) {
           const std::vector<int64_t> size = attributes.Ints("size");
           return AlwaysAnImage(inputs[0], PixelTypes::kFixedSize) && size[0] == (*inputs[0].shape)[0] &&
                  size[1] == (*inputs[0].shape)[1];
         }},
    Makes<CenterCrop>()};

}  // namespace
}  // namespace headrace
