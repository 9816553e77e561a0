// `TypeOfParts` makes a column type of the parts that the interface has.
// Threads: pure functions.
#ifndef HEADRACE_KERNELS_PLUGIN_PLUGIN_TYPE_H_
#define HEADRACE_KERNELS_PLUGIN_PLUGIN_TYPE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ir/type.h"

namespace headrace {

// `shape` may be null without axes. kUnsupported: no type has these; the message continues "gives".
absl::StatusOr<ir::ColumnType> TypeOfParts(int32_t dtype, int32_t axes, const int64_t* shape);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_PLUGIN_PLUGIN_TYPE_H_
