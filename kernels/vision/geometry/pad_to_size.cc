#include <vector>

#include "core/error.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/image/size_attribute.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

class PadToSize : public GeometricKernel {
 public:
  explicit PadToSize(const ir::Attributes& attributes)
      : size_(attributes.Ints("size")),
        fill_(attributes.Numbers("fill")),
        border_(BorderOf(attributes.String("mode"))) {
    if (!attributes.IsNone("offset")) offset_ = attributes.Ints("offset");
  }

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    const int64_t rows = size_[0] - plan.height();
    const int64_t columns = size_[1] - plan.width();
    const int64_t top = offset_.empty() ? rows / 2 : offset_[0];
    const int64_t left = offset_.empty() ? columns / 2 : offset_[1];
    if (rows < 0 || columns < 0 || top > rows || left > columns) {
      return GraphError("the image (", plan.height(), ", ", plan.width(), ") does not fit into (", size_[0], ", ",
                        size_[1], ") at the offset (", top, ", ", left, "); resize it first");
    }
    plan.Cut({-top, -left, size_[0], size_[1]}, border_, fill_);
    return absl::OkStatus();
  }

 private:
  std::vector<int64_t> size_;
  std::vector<int64_t> offset_ = {};  // empty: in the middle
  std::vector<ir::Number> fill_;
  Border border_;
};

const MovingRegistration pad_to_size_registration{
    {.name = "PadToSize",
     .summary = "Pads an image to a height and width.",
     .doc =
         "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type of that height and width, "
         "with the image in the middle (an odd pixel is at the bottom or right) or at `offset`; see Pad. MindSpore's "
         "PadToSize.\n"
         "Errors: an image that does not fit, a fill that the type cannot hold, another rank, bytes or strings.",
     .attributes = {SizeAttribute(),
                    {.name = "offset",
                     .type = ir::AttributeType::kInts,
                     .doc = "(top, left) of the image in the result, or one number for both; None: in the middle.",
                     .default_value = "None",
                     .nullable = true,
                     .minimum = 0,
                     .maximum = 65535,
                     .lengths = {2},
                     .broadcast = true},
                    FillAttribute(),
                    BorderAttribute()},
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.PadToSize(640, fill=114)",
     .sample = {.attributes = {{"size", "(70, 90)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferCutToSize},
    Makes<PadToSize>()};

}  // namespace
}  // namespace headrace
