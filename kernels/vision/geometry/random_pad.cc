#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/image/area_and_ratio.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

// A canvas that is larger by less, in pixels, is drawn anew.
constexpr int64_t kLeastBorder = 2;

class RandomPad : public GeometricKernel {
 public:
  RandomPad(const ir::Attributes& attributes, const AreaAndRatio& ranges)
      : ranges_(ranges), attempts_(attributes.Int("max_attempts")), fill_(attributes.Numbers("fill")) {}
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const AreaAndRatio ranges, AreaAndRatio::Of(attributes));
    return std::make_unique<RandomPad>(attributes, ranges);
  }

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom& random, MovePlan& plan) const override {
    const int64_t height = plan.height();
    const int64_t width = plan.width();
    for (int64_t attempt = 0; attempt < attempts_; ++attempt) {
      const Window canvas = Proposed(random, height, width);
      if (canvas.height - height < kLeastBorder || canvas.width - width < kLeastBorder) continue;
      const auto place = [&random](int64_t room) {
        return static_cast<int64_t>(random.Below(static_cast<uint64_t>(room + 1)));
      };
      const int64_t top = place(canvas.height - height);
      const int64_t left = place(canvas.width - width);
      plan.Cut({-top, -left, canvas.height, canvas.width}, Border::kConstant, fill_);
      return absl::OkStatus();
    }
    plan.Require(fill_);
    return absl::OkStatus();
  }

 private:
  // MXNet's way to whole pixels: the height is uniform between what the least and the greatest area give.
  Window Proposed(RowRandom& random, int64_t height, int64_t width) const {
    const double whole = static_cast<double>(height) * static_cast<double>(width);
    const double ratio = random.Uniform(ranges_.ratio.low, ranges_.ratio.high);
    const int64_t most = WholeHeight(ranges_.area.high * whole, ratio);
    int64_t high = WholeHeight(ranges_.area.low * whole, ratio);
    if (WholeWidth(high, ratio) < width) high = static_cast<int64_t>((static_cast<double>(width) + 0.499999) / ratio);
    high = std::min(std::max(high, height), most);
    high += static_cast<int64_t>(random.Below(static_cast<uint64_t>(most - high + 1)));
    return {.height = high, .width = WholeWidth(high, ratio)};
  }

  AreaAndRatio ranges_;
  int64_t attempts_;
  std::vector<ir::Number> fill_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferRandomPad(const ir::Attributes& attributes,
                                                           absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(AreaAndRatio::Of(attributes).status());
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  return std::vector{WithSize(type, ir::kUnknownDim, ir::kUnknownDim)};
}

const MovingRegistration random_pad_registration{
    {.name = "RandomPad",
     .summary = "Puts images on a larger canvas of random area and ratio.",
     .doc =
         "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type. MXNet's DetRandomPadAug: "
         "draws up to `max_attempts` canvases, whose width over height is uniform in `aspect_ratio_range` and whose "
         "height is uniform between those that `area_range` gives, and takes the first that is at least two pixels "
         "wider and higher than the image, which lies at a uniform place of it. Without one the image stays as it "
         "is.\n"
         "Errors: a fill that the type cannot hold, another rank, bytes or strings.",
     .attributes = {AspectRatioRange(),
                    AreaRange("The least and the greatest area of the canvas over the image's.", "(1.0, 3.0)", 1),
                    MostAttempts("canvases"), FillAttribute()},
     .traits = {.random = true, .geometric = true},
     .python_module = "vision",
     .example = "V.RandomPad(area_range=(1.0, 2.0), fill=127)",
     .sample = {.attributes = {{"area_range", "(2.0, 3.0)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferRandomPad},
    RandomPad::Make};

}  // namespace
}  // namespace headrace
