#include "kernels/vision/mixing/batch_images.h"

#include <optional>

#include "core/error.h"

namespace headrace {

ir::Attribute BatchImages::LayoutAttribute() {
  return {.name = "layout",
          .type = ir::AttributeType::kString,
          .doc = "The axes of each image: CHW channels first, HWC channels last, or none.",
          .default_value = "'CHW'",
          .choices = {"HWC", "CHW"}};
}

bool BatchImages::TakesLayout(const ir::Attributes& attributes, bool channels_first) {
  return BatchImages(attributes).channels_first() == channels_first;
}

absl::Status BatchImages::CheckType(const ir::ColumnType& type) const {
  const std::optional<Shape>& shape = type.shape;
  const bool fits = !shape || shape->size() == 4 || (!channels_first_ && shape->size() == 3);
  if (!fits) return NotImages(ir::TypeName(type));
  return shape ? CheckPlanes(*shape, ir::TypeName(type)) : absl::OkStatus();
}

absl::Status BatchImages::Check(const Tensor& images) const {
  const bool fits = images.rank() == 4 || (!channels_first_ && images.rank() == 3);
  if (!fits || ItemSize(images.dtype()) == 0 || images.elements() == 0) return NotImages(images.TypeName());
  return CheckPlanes(images.shape(), images.TypeName());
}

// Dimensions may be unknown.
absl::Status BatchImages::CheckPlanes(absl::Span<const int64_t> shape, std::string_view got) const {
  if (!channels_first_ || shape.size() != 4) return absl::OkStatus();
  // Maps of features may be 4 × 4, or have one column.
  const bool last = (shape[3] == 3 || shape[3] == 4) && shape[1] > 4 && shape[2] > 4;
  if (!last) return absl::OkStatus();
  return GraphError(
      "takes images of shape (B, C, H, W), and these seem to have their channels last: write layout='HWC'; "
      "got ",
      got);
}

absl::Status BatchImages::NotImages(std::string_view got) const {
  return GraphError("needs a batch of images of shape ", channels_first_ ? "(B, C, H, W)" : "(B, H, W, C) or (B, H, W)",
                    " as its first column (layout='", channels_first_ ? "CHW" : "HWC", "'); got ", got);
}

}  // namespace headrace
