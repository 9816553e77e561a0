// `LoadPlugin` loads a plugin: a shared library that declares operators through plugin/headrace_plugin.h. Loading
// registers its operators for the life of the process; nothing but a call of LoadPlugin opens a library. Its sources
// and formats are operators where `ops/plugin` is linked; elsewhere its kernels alone are, and a graph that names one
// of the others is refused as one that names an unknown operator.
// Threads: any thread. Loaded plugins are immutable and never freed.
#ifndef HEADRACE_KERNELS_PLUGIN_PLUGIN_LIBRARY_H_
#define HEADRACE_KERNELS_PLUGIN_PLUGIN_LIBRARY_H_

#include <deque>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/declaration.h"
#include "kernels/plugin/plugin_declaration.h"

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

// Makes operators of the sources and formats of plugins.
struct PluginReaders {
  // What would be registered, so that mistakes are found before anything is.
  ir::Declaration (*declare_source)(std::string_view plugin, const PluginSourceTable& table) = nullptr;
  ir::Declaration (*declare_format)(std::string_view plugin, const PluginFormatTable& table) = nullptr;
  // kGraph, with nothing changed: as ir::Registry::Register. The table outlives what is made of it.
  absl::Status (*register_source)(std::string_view plugin, const PluginSourceTable& table) = nullptr;
  absl::Status (*register_format)(std::string_view plugin, const PluginFormatTable& table) = nullptr;
};

// Of all plugins that are loaded from then on. Before main, which has one thread.
void SetPluginReaders(const PluginReaders& readers);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_PLUGIN_PLUGIN_LIBRARY_H_
