// `LoadPlugin` loads a plugin: a shared library that declares operators through plugin/headrace_plugin.h. Loading
// registers its operators for the life of the process; nothing but a call of LoadPlugin opens a library.
// Threads: any thread. Loaded plugins are immutable and never freed.
#ifndef HEADRACE_OPS_PLUGIN_PLUGIN_LIBRARY_H_
#define HEADRACE_OPS_PLUGIN_PLUGIN_LIBRARY_H_

#include <deque>
#include <string>

#include "absl/status/statusor.h"
#include "ops/plugin/plugin_declaration.h"

namespace headrace {

struct Plugin {
  std::string name = {};     // "myops"
  std::string path = {};     // of the library
  std::string version = {};  // the plugin's own, for people
  std::string doc = {};
  std::deque<PluginKernelTable> kernels = {};
  std::deque<PluginSourceTable> sources = {};
  std::deque<PluginFormatTable> formats = {};
};

// The plugin of the library at this path, which is loaded once. kNotFound: there is no such file. kUnsupported, with
// nothing registered: it is no library, or no plugin, or of another version of the interface, or declares what cannot
// be used; its name, or one of its operators', is taken.
absl::StatusOr<const Plugin*> LoadPlugin(const std::string& path);

}  // namespace headrace

#endif  // HEADRACE_OPS_PLUGIN_PLUGIN_LIBRARY_H_
