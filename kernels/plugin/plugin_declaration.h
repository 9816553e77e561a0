// `ReadKernel`, `ReadSource` and `ReadFormat` check what a plugin declares; `DeclarationOf` makes a declaration of ours
// of it.
// Threads: immutable once made; any thread.
#ifndef HEADRACE_KERNELS_PLUGIN_PLUGIN_DECLARATION_H_
#define HEADRACE_KERNELS_PLUGIN_PLUGIN_DECLARATION_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "headrace_plugin.h"
#include "ir/declaration.h"

namespace headrace {

// The structures of one operator, of this version's size.
template <typename Struct>
struct PluginTable {
  std::string op = {};  // "myops.Blur"
  Struct given = {};
  std::vector<headrace_attribute> attributes = {};
};
using PluginKernelTable = PluginTable<headrace_kernel>;
using PluginSourceTable = PluginTable<headrace_source>;
using PluginFormatTable = PluginTable<headrace_format>;

// kUnsupported: a structure of a size that no version has, a name that Python cannot have, a text that is missing or
// not UTF-8, a callback that is missing. The message continues a sentence that begins with the plugin.
absl::StatusOr<PluginKernelTable> ReadKernel(std::string_view plugin, const headrace_kernel* given);
absl::StatusOr<PluginSourceTable> ReadSource(std::string_view plugin, const headrace_source* given);
absl::StatusOr<PluginFormatTable> ReadFormat(std::string_view plugin, const headrace_format* given);

// Without inference. Defaults that do not fit are found when it is registered.
ir::Declaration DeclarationOf(std::string_view plugin, const PluginKernelTable& table);
// With the plugin's own attributes; `ops/plugin` adds those of every source of their kind.
ir::Declaration DeclarationOf(std::string_view plugin, const PluginSourceTable& table);
ir::Declaration DeclarationOf(std::string_view plugin, const PluginFormatTable& table);

// Small letters, digits and `_`, the first one a letter, and no word of Python's.
bool IsPythonName(std::string_view name);

// OK if it is UTF-8, and given if it is `required`.
absl::Status CheckText(const char* text, bool required, std::string_view what);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_PLUGIN_PLUGIN_DECLARATION_H_
