// `RegisterFormat` registers a format of a plugin: its callbacks become a Format (io/formats/record_reader.h), whose
// records are rows of tensors, and an operator that reads it in splits (ops/source/split_source.h),
// declared as `DeclareFormat` says.
// Threads: a pure function; a PluginFormatTable outlives what is made of it.
#ifndef HEADRACE_OPS_PLUGIN_PLUGIN_FORMAT_H_
#define HEADRACE_OPS_PLUGIN_PLUGIN_FORMAT_H_

#include <string_view>

#include "absl/status/status.h"
#include "ir/declaration.h"
#include "kernels/plugin/plugin_declaration.h"

namespace headrace {

// The plugin's own attributes, and those of every format; without inference.
ir::Declaration DeclareFormat(std::string_view plugin, const PluginFormatTable& table);

// kGraph, with nothing changed: as ir::Registry::Register.
absl::Status RegisterFormat(std::string_view plugin, const PluginFormatTable& table);

}  // namespace headrace

#endif  // HEADRACE_OPS_PLUGIN_PLUGIN_FORMAT_H_
