#include "kernels/plugin/plugin_type.h"

#include "core/error.h"
#include "headrace_plugin.h"

namespace headrace {

absl::StatusOr<ir::ColumnType> TypeOfParts(int32_t dtype, int32_t axes, const int64_t* shape) {
  if (dtype < HEADRACE_UNKNOWN || dtype > HEADRACE_STRING) {
    return UnsupportedError("dtype ", dtype, ", not a headrace_dtype");
  }
  ir::ColumnType type = ir::ColumnType::AnyShape(static_cast<DType>(dtype));
  if (axes == -1) return type;
  if (axes < 0 || axes > HEADRACE_MOST_AXES) {
    return UnsupportedError(axes, " axes; -1 (not known) to ", HEADRACE_MOST_AXES, " are possible");
  }
  if (axes > 0 && shape == nullptr) return UnsupportedError("no shape for ", axes, " axes");
  type.shape.emplace(shape, shape + axes);
  for (const int64_t length : *type.shape) {
    if (length < ir::kUnknownDim) {
      return UnsupportedError("shape ", ShapeName(*type.shape), "; lengths are -1 (not known) or more");
    }
  }
  return type;
}

}  // namespace headrace
