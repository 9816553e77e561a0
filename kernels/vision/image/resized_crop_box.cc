#include "kernels/vision/image/resized_crop_box.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

constexpr int kAttempts = 10;

// Rounds half to even, as Python does.
int64_t Rounded(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

CropBox LargestInTheMiddle(int64_t height, int64_t width, Interval ratio) {
  const double own = static_cast<double>(width) / static_cast<double>(height);
  CropBox box = {0, 0, height, width};
  if (own < ratio.low) box.height = std::clamp<int64_t>(Rounded(width / ratio.low), 1, height);
  if (own > ratio.high) box.width = std::clamp<int64_t>(Rounded(height * ratio.high), 1, width);
  box.top = (height - box.height) / 2;
  box.left = (width - box.width) / 2;
  return box;
}

}  // namespace

absl::StatusOr<Interval> Interval::Of(const ir::Attributes& attributes, std::string_view name) {
  const std::vector<double> ends = attributes.Floats(name);
  if (ends[0] <= ends[1]) return Interval{ends[0], ends[1]};
  return GraphError(name, " = (", ends[0], ", ", ends[1], ") ends before it begins; swap the two");
}

CropBox DrawResizedCropBox(int64_t height, int64_t width, Interval scale, Interval ratio, RowRandom& random) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  const Interval log_ratio = {std::log(ratio.low), std::log(ratio.high)};
  for (int i = 0; i < kAttempts; ++i) {
    const double target_area = area * random.Uniform(scale.low, scale.high);
    const double aspect = std::exp(random.Uniform(log_ratio.low, log_ratio.high));
    CropBox box;
    box.width = Rounded(std::sqrt(target_area * aspect));
    box.height = Rounded(std::sqrt(target_area / aspect));
    if (box.width <= 0 || box.width > width || box.height <= 0 || box.height > height) continue;
    box.top = static_cast<int64_t>(random.Below(height - box.height + 1));
    box.left = static_cast<int64_t>(random.Below(width - box.width + 1));
    return box;
  }
  return LargestInTheMiddle(height, width, ratio);
}

}  // namespace headrace
