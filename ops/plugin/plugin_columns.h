// `PluginColumns` collects the columns of a plugin's source or format, as its columns() adds them.
// Threads: pure functions.
#ifndef HEADRACE_OPS_PLUGIN_PLUGIN_COLUMNS_H_
#define HEADRACE_OPS_PLUGIN_PLUGIN_COLUMNS_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "headrace_plugin.h"
#include "ir/attributes.h"
#include "ir/type.h"

namespace headrace {

// Calls columns() of the operator `op`. kFunction, as an error of no row: columns that cannot be, or none.
absl::StatusOr<ir::Schema> PluginColumns(std::string_view op, decltype(headrace_source::columns) columns,
                                         absl::Span<const headrace_attribute> declared,
                                         const ir::Attributes& attributes);

}  // namespace headrace

#endif  // HEADRACE_OPS_PLUGIN_PLUGIN_COLUMNS_H_
