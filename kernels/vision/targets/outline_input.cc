#include "kernels/vision/targets/outline_input.h"

#include <string_view>

#include "core/error.h"

namespace headrace {
namespace {

absl::Status NotOutlines(std::string_view type) {
  return GraphError("needs outlines, uint8 of one axis, as headrace.datasets.Coco gives them; got ", type);
}

}  // namespace

absl::StatusOr<OutlineReader> OpenOutlines(const Tensor& dense) {
  if (dense.dtype() != DType::kUInt8 || dense.rank() != 1) return NotOutlines(dense.TypeName());
  OutlineReader reader({reinterpret_cast<const char*>(dense.raw()), dense.bytes()});
  HEADRACE_RETURN_IF_ERROR(reader.ReadHead());
  return reader;
}

absl::Status CheckOutlinesType(const ir::ColumnType& type) {
  const bool bytes = type.dtype == DType::kUInt8 || type.dtype == DType::kUnknown;
  if (type.fields.empty() && bytes && (!type.shape || type.shape->size() == 1)) return absl::OkStatus();
  return NotOutlines(ir::TypeName(type));
}

ir::Attribute MaxPixelsOfOutlines() {
  return {.name = "max_pixels",
          .doc = "How many pixels a row's result, and the parts of its outlines together, may have; -1: any number.",
          .default_value = "2147483648",
          .minimum = -1};
}

}  // namespace headrace
