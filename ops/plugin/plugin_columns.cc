#include "ops/plugin/plugin_columns.h"

#include "core/error.h"
#include "kernels/plugin/plugin_call.h"
#include "kernels/plugin/plugin_values.h"

namespace headrace {

absl::StatusOr<ir::Schema> PluginColumns(std::string_view op, decltype(headrace_source::columns) columns,
                                         absl::Span<const headrace_attribute> declared,
                                         const ir::Attributes& attributes) {
  const PluginValues values(declared, attributes);
  ir::Schema schema;
  headrace_call call(op, "columns");
  call.Give(&schema.columns);
  HEADRACE_RETURN_IF_ERROR(call.Run([&](headrace_call* call) { return columns(call, values.values()); }));
  if (schema.columns.empty()) return BrokenRule(op, "columns", "gives no column and no error");
  return schema;
}

}  // namespace headrace
