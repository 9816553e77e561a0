#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

constexpr ir::Number kRandomSizeCropZeros[] = {int64_t{0}};
constexpr absl::Span<const ir::Number> kNoFill(kRandomSizeCropZeros);

absl::Status SmallerThanCrop(int64_t least, int64_t height, int64_t width) {
  return GraphError("the sides of the crop have at least ", least, " pixels, and the image is (", height, ", ", width,
                    "); resize first, or give a smaller min_size");
}

// Of min_size, …, max_size, or of the image's side where that is shorter.
int64_t DrawSide(RowRandom& random, int64_t least, int64_t most, int64_t image_side) {
  const int64_t choices = std::min(most, image_side) - least + 1;
  return least + static_cast<int64_t>(random.Below(static_cast<uint64_t>(choices)));
}

class RandomSizeCrop : public GeometricKernel {
 public:
  explicit RandomSizeCrop(const ir::Attributes& attributes)
      : least_(attributes.Int("min_size")), most_(attributes.Int("max_size")) {}

  static absl::Status Check(const ir::Attributes& attributes) {
    const int64_t least = attributes.Int("min_size");
    const int64_t most = attributes.Int("max_size");
    if (least <= most) return absl::OkStatus();
    return GraphError("min_size is ", least, ", above max_size, which is ", most, "; exchange them");
  }
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_RETURN_IF_ERROR(Check(attributes));
    return std::make_unique<RandomSizeCrop>(attributes);
  }

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom& random, MovePlan& plan) const override {
    if (std::min(plan.height(), plan.width()) < least_) return SmallerThanCrop(least_, plan.height(), plan.width());
    // In DETR's order.
    const int64_t width = DrawSide(random, least_, most_, plan.width());
    const int64_t height = DrawSide(random, least_, most_, plan.height());
    const auto top = static_cast<int64_t>(random.Below(static_cast<uint64_t>(plan.height() - height + 1)));
    const auto left = static_cast<int64_t>(random.Below(static_cast<uint64_t>(plan.width() - width + 1)));
    plan.Cut({top, left, height, width}, Border::kConstant, kNoFill);
    return absl::OkStatus();
  }

 private:
  int64_t least_;
  int64_t most_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferRandomSizeCrop(const ir::Attributes& attributes,
                                                                absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(RandomSizeCrop::Check(attributes));
  const int64_t least = attributes.Int("min_size");
  const int64_t most = attributes.Int("max_size");
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  const auto known = [&](size_t axis) {
    const bool open = !type.shape || (*type.shape)[axis] == ir::kUnknownDim;
    return open ? most : (*type.shape)[axis];
  };
  if (std::min(known(0), known(1)) < least) return SmallerThanCrop(least, known(0), known(1));
  const int64_t side = least == most ? most : ir::kUnknownDim;
  return std::vector{WithSize(type, side, side)};
}

const MovingRegistration random_size_crop_registration{
    {.name = "RandomSizeCrop",
     .summary = "Cuts a rectangle of random height and width out of an image.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type. Width and height are "
            "drawn one by one from min_size, …, max_size, or up to the image's own side where that is shorter, all "
            "equally likely, and so is the place: DETR's RandomSizeCrop. Sanitize boxes afterwards: those "
            "outside the crop are empty.\n"
            "Errors: an image that is narrower or lower than `min_size`, another rank, bytes or strings.",
     .attributes = {{.name = "min_size", .doc = "The least side, in pixels.", .minimum = 1, .maximum = 65535},
                    {.name = "max_size", .doc = "The greatest side, in pixels.", .minimum = 1, .maximum = 65535}},
     .traits = {.random = true, .geometric = true},
     .python_module = "vision",
     .example = "V.RandomSizeCrop(384, 600)",
     .sample = {.attributes = {{"min_size", "20"}, {"max_size", "70"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferRandomSizeCrop},
    RandomSizeCrop::Make};

}  // namespace
}  // namespace headrace
