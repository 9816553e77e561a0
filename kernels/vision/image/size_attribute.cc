#include "kernels/vision/image/size_attribute.h"

#include <utility>

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

}  // namespace headrace
