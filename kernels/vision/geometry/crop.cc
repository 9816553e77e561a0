#include <vector>

#include "core/error.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

class Crop : public GeometricKernel {
 public:
  explicit Crop(const ir::Attributes& attributes)
      : window_{attributes.Int("top"), attributes.Int("left"), attributes.Int("height"), attributes.Int("width")},
        fill_(attributes.Numbers("fill")) {}

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    plan.Cut(window_, Border::kConstant, fill_);
    return absl::OkStatus();
  }

 private:
  Window window_;
  std::vector<ir::Number> fill_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferCrop(const ir::Attributes& attributes,
                                                      absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  return std::vector{WithSize(type, attributes.Int("height"), attributes.Int("width"))};
}

ir::Attribute Position(const char* name, const char* doc) {
  return {.name = name, .doc = doc, .minimum = -65535, .maximum = 1e9};
}
ir::Attribute Side(const char* name, const char* doc) {
  return {.name = name, .doc = doc, .minimum = 1, .maximum = 65535};
}

const MovingRegistration crop_registration{
    {.name = "Crop",
     .summary = "Cuts a fixed rectangle out of an image.",
     .doc =
         "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type of the rectangle's height "
         "and width; what of it is beyond the image holds `fill`. torchvision's crop.\n"
         "Errors: a fill that the type cannot hold, another rank, bytes or strings.",
     .attributes = {Position("top", "The first row; below 0: above the image."),
                    Position("left", "The first column; below 0: left of the image."),
                    Side("height", "Rows of the result."), Side("width", "Columns of the result."), FillAttribute()},
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.Crop(10, 20, height=30, width=40)",
     .sample = {.attributes = {{"top", "10"}, {"left", "20"}, {"height", "30"}, {"width", "40"}},
                .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferCrop},
    Makes<Crop>()};

}  // namespace
}  // namespace headrace
