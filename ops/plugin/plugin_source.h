// `RegisterSource` registers a source with random access of a plugin: its callbacks become an operator, declared as
// `DeclareSource` says.
// Threads: a pure function; a PluginSourceTable outlives what is made of it.
#ifndef HEADRACE_OPS_PLUGIN_PLUGIN_SOURCE_H_
#define HEADRACE_OPS_PLUGIN_PLUGIN_SOURCE_H_

#include <string_view>

#include "absl/status/status.h"
#include "ir/declaration.h"
#include "kernels/plugin/plugin_declaration.h"

namespace headrace {

// The plugin's own attributes, and those of every source; without inference.
ir::Declaration DeclareSource(std::string_view plugin, const PluginSourceTable& table);

// kGraph, with nothing changed: as ir::Registry::Register.
absl::Status RegisterSource(std::string_view plugin, const PluginSourceTable& table);

}  // namespace headrace

#endif  // HEADRACE_OPS_PLUGIN_PLUGIN_SOURCE_H_
