#include "kernels/vision/geometry/size_rule.h"

#include <optional>
#include <vector>

#include "core/error.h"
#include "kernels/vision/geometry/resize.h"
#include "kernels/vision/image/image.h"

namespace headrace {

ir::InferKernel InferBy(SizeRule rule) {
  return [rule](const ir::Attributes& attributes,
                absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], Resizing::Of(attributes).accepted()));
    const std::optional<ImageSize> image = KnownSize(type);
    const ImageSize size = image ? rule(attributes, *image) : ImageSize{ir::kUnknownDim, ir::kUnknownDim};
    return std::vector{WithSize(type, size.height, size.width)};
  };
}

ir::IsKernelIdentity KeepsSizeBy(SizeRule rule) {
  return [rule](const ir::Attributes& attributes, absl::Span<const ir::ColumnType> inputs) {
    if (!AlwaysAnImage(inputs[0], Resizing::Of(attributes).accepted())) return false;
    const std::optional<ImageSize> image = KnownSize(inputs[0]);
    return image && rule(attributes, *image) == *image;
  };
}

}  // namespace headrace
