#include "kernels/vision/image/size_attribute.h"

#include <utility>

#include "core/error.h"

namespace headrace {

ir::Attribute SizeAttribute(std::string doc) {
  return {.name = "size",
          .type = ir::AttributeType::kInts,
          .doc = std::move(doc),
          .in_words = "a whole number or (height, width)",
          .minimum = 1,
          .maximum = kMostSide,
          .lengths = {2},
          .broadcast = true};
}

absl::StatusOr<std::vector<ir::ColumnType>> InferOfSize(const ir::Attributes& attributes,
                                                        absl::Span<const ir::ColumnType> inputs, PixelTypes accepted) {
  HEADRACE_ASSIGN_OR_RETURN(const ir::ColumnType type, ImageTypeOf(inputs[0], accepted));
  const std::vector<int64_t> size = attributes.Ints("size");
  return std::vector{WithSize(type, size[0], size[1])};
}

absl::StatusOr<std::vector<ir::ColumnType>> InferCutToSize(const ir::Attributes& attributes,
                                                           absl::Span<const ir::ColumnType> inputs) {
  return InferOfSize(attributes, inputs, PixelTypes::kFixedSize);
}

}  // namespace headrace
