#include "kernels/vision/image/area_and_ratio.h"

#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace headrace {
namespace {

ir::Attribute Range(std::string name, std::string doc, std::string default_value, double minimum, double maximum) {
  return {.name = std::move(name),
          .type = ir::AttributeType::kFloats,
          .doc = std::move(doc),
          .default_value = std::move(default_value),
          .minimum = minimum,
          .maximum = maximum,
          .lengths = {2}};
}

int64_t WholePixels(double side) { return static_cast<int64_t>(std::nearbyint(side)); }

}  // namespace

absl::StatusOr<AreaAndRatio> AreaAndRatio::Of(const ir::Attributes& attributes) {
  AreaAndRatio ranges;
  HEADRACE_ASSIGN_OR_RETURN(ranges.ratio, Interval::Of(attributes, "aspect_ratio_range"));
  HEADRACE_ASSIGN_OR_RETURN(ranges.area, Interval::Of(attributes, "area_range"));
  return ranges;
}

ir::Attribute AspectRatioRange() {
  return Range("aspect_ratio_range", "The least and the greatest width over height.", "(0.75, 1.33)", 1e-3, 1e3);
}

ir::Attribute AreaRange(std::string doc, std::string default_value, double minimum) {
  return Range("area_range", std::move(doc), std::move(default_value), minimum, 1e4);
}

ir::Attribute MostAttempts(std::string_view what) {
  return {.name = "max_attempts",
          .doc = Cat("The most ", what, " that are drawn."),
          .default_value = "50",
          .minimum = 1,
          .maximum = 10000};
}

int64_t WholeHeight(double area, double ratio) { return WholePixels(std::sqrt(area / ratio)); }
int64_t WholeWidth(int64_t height, double ratio) { return WholePixels(static_cast<double>(height) * ratio); }

}  // namespace headrace
