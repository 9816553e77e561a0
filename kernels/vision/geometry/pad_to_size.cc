#include <optional>
#include <vector>

#include "core/error.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/image/size_attribute.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

// Where an image lies in what it is padded to, and whether it fits.
struct PaddedPlace {
  int64_t top;
  int64_t left;
  bool fits;

  // `offset` is empty for the middle.
  static PaddedPlace Of(const std::vector<int64_t>& size, const std::vector<int64_t>& offset, int64_t height,
                        int64_t width) {
    const int64_t rows = size[0] - height;
    const int64_t columns = size[1] - width;
    const int64_t top = offset.empty() ? rows / 2 : offset[0];
    const int64_t left = offset.empty() ? columns / 2 : offset[1];
    return {top, left, rows >= 0 && columns >= 0 && top <= rows && left <= columns};
  }
  absl::Status DoesNotFit(const std::vector<int64_t>& size, int64_t height, int64_t width) const {
    return GraphError("the image (", height, ", ", width, ") does not fit into (", size[0], ", ", size[1],
                      ") at the offset (", top, ", ", left, "); resize it first");
  }
};

std::vector<int64_t> OffsetOf(const ir::Attributes& attributes) {
  return attributes.IsNone("offset") ? std::vector<int64_t>() : attributes.Ints("offset");
}

class PadToSize : public GeometricKernel {
 public:
  explicit PadToSize(const ir::Attributes& attributes)
      : size_(attributes.Ints("size")),
        offset_(OffsetOf(attributes)),
        fill_(attributes.Numbers("fill")),
        border_(BorderOf(attributes.String("mode"))) {}

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    const PaddedPlace place = PaddedPlace::Of(size_, offset_, plan.height(), plan.width());
    if (!place.fits) return place.DoesNotFit(size_, plan.height(), plan.width());
    plan.Cut({-place.top, -place.left, size_[0], size_[1]}, border_, fill_);
    return absl::OkStatus();
  }

 private:
  std::vector<int64_t> size_;
  std::vector<int64_t> offset_;  // empty: in the middle
  std::vector<ir::Number> fill_;
  Border border_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferPadToSize(const ir::Attributes& attributes,
                                                           absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<ir::ColumnType> padded, InferCutToSize(attributes, inputs));
  const std::optional<Shape>& shape = inputs[0].shape;
  if (!shape || (*shape)[0] == ir::kUnknownDim || (*shape)[1] == ir::kUnknownDim) return padded;
  const std::vector<int64_t> size = attributes.Ints("size");
  const PaddedPlace place = PaddedPlace::Of(size, OffsetOf(attributes), (*shape)[0], (*shape)[1]);
  if (!place.fits) return place.DoesNotFit(size, (*shape)[0], (*shape)[1]);
  return padded;
}

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
     .infer_kernel = InferPadToSize},
    Makes<PadToSize>()};

}  // namespace
}  // namespace headrace
