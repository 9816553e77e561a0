#include "ops/plugin/plugin_library.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "headrace_plugin.h"
#include "kernels/kernel.h"
#include "ops/plugin/plugin_call.h"
#include "ops/plugin/plugin_kernel.h"
#include "ops/plugin/plugin_struct.h"

namespace headrace {
namespace {

constexpr char kEntry[] = "headrace_plugin_query";
using Query = decltype(headrace_plugin_query);

// Of version 1.0 of the interface.
constexpr size_t kFirstPlugin = 40;
static_assert(sizeof(headrace_plugin) == kFirstPlugin, "structures may only grow at their ends");

std::string VersionText(uint32_t abi) { return Cat(abi >> 16, ".", abi & 0xFFFF); }

std::string ReasonOfSystem() {
  const char* const reason = dlerror();
  return reason == nullptr ? "the system gives no reason" : reason;
}

// Closes the library unless it is kept.
class Library {
 public:
  explicit Library(void* handle) : handle_(handle) {}
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;

  Query* Entry() const { return reinterpret_cast<Query*>(dlsym(handle_, kEntry)); }
  void Keep() { handle_ = nullptr; }

 private:
  void* handle_;
};

absl::StatusOr<const headrace_plugin*> Ask(Query* query) {
  try {
    return query(&PluginHost());
  } catch (...) {
    return UnsupportedError(kEntry, "() threw an exception");
  }
}

// Whether another plugin, or a module of Headrace's own, has the name.
absl::Status CheckName(std::string_view name, const std::map<std::string, const Plugin*, std::less<>>& loaded) {
  if (!IsPythonName(name)) {
    return UnsupportedError("calls itself \"", name,
                            "\"; names have small letters, digits and _, and are no words of Python's");
  }
  if (const auto found = loaded.find(name); found != loaded.end()) {
    return UnsupportedError("calls itself ", name, ", and the plugin of that name is loaded from ",
                            found->second->path);
  }
  for (const ir::Declaration* declaration : ir::Registry::Global().All()) {
    if (declaration->python_module == name) {
      return UnsupportedError("calls itself ", name, ", which is the name of a module of Headrace's");
    }
  }
  return absl::OkStatus();
}

// Its operators, in a registry of their own: which finds what is wrong before anything is registered.
absl::Status CheckKernels(const Plugin& plugin) {
  ir::Registry own;
  for (const PluginKernelTable& table : plugin.kernels) {
    const absl::Status fits = own.Register(DeclarationOf(plugin.name, table));
    if (!fits.ok()) return UnsupportedError("is wrong: ", fits.message());
  }
  return absl::OkStatus();
}

absl::Status RegisterKernels(const Plugin& plugin) {
  for (const PluginKernelTable& table : plugin.kernels) {
    ir::Declaration declaration = DeclarationOf(plugin.name, table);
    declaration.infer_kernel = InferOf(table);
    HEADRACE_RETURN_IF_ERROR(RegisterKernel(std::move(declaration), FactoryOf(table)));
  }
  return absl::OkStatus();
}

class Plugins {
 public:
  static Plugins& Global() {
    // Never destroyed, because threads may use plugins while the process exits.
    static auto* const plugins = new Plugins;
    return *plugins;
  }

  absl::StatusOr<const Plugin*> Load(const std::string& path) {
    struct stat file = {};
    if (stat(path.c_str(), &file) != 0) return NotFoundError("there is no plugin ", path);
    if (!S_ISREG(file.st_mode)) return UnsupportedError(path, " is no plugin: it is no regular file");
    const std::lock_guard lock(mutex_);
    absl::StatusOr<const Plugin*> plugin = Open(path);
    if (plugin.ok()) return plugin;
    return MakeError(KindOf(plugin.status()), Cat("the plugin ", path, " ", ToStd(plugin.status().message())));
  }

 private:
  absl::StatusOr<const Plugin*> Open(const std::string& path) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return UnsupportedError("cannot be loaded: ", ReasonOfSystem());
    Library library(handle);
    Query* const query = library.Entry();
    if (query == nullptr) return UnsupportedError("is no plugin of Headrace: it does not export ", kEntry, "()");
    // A file that is loaded already gives the same entry.
    if (const auto found = by_entry_.find(query); found != by_entry_.end()) return found->second;
    HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Plugin> plugin, Read(path, query));
    HEADRACE_RETURN_IF_ERROR(CheckName(plugin->name, by_name_));
    HEADRACE_RETURN_IF_ERROR(CheckKernels(*plugin));
    library.Keep();
    const Plugin* const kept = plugin.release();
    by_name_.emplace(kept->name, kept);
    by_entry_.emplace(query, kept);
    HEADRACE_RETURN_IF_ERROR(RegisterKernels(*kept));
    return kept;
  }

  static absl::StatusOr<std::unique_ptr<Plugin>> Read(const std::string& path, Query* query) {
    HEADRACE_ASSIGN_OR_RETURN(const headrace_plugin* given, Ask(query));
    if (given == nullptr) {
      return UnsupportedError("refuses this Headrace, whose interface for plugins has version ",
                              VersionText(HEADRACE_PLUGIN_ABI));
    }
    // Before anything else of it is looked at: only size and version are where they are in every version.
    if (given->abi >> 16 != HEADRACE_PLUGIN_ABI_MAJOR || given->abi > HEADRACE_PLUGIN_ABI) {
      return UnsupportedError("was built for version ", VersionText(given->abi),
                              " of the interface; this Headrace has version ", VersionText(HEADRACE_PLUGIN_ABI),
                              ": build it with this Headrace's headrace_plugin.h",
                              given->abi > HEADRACE_PLUGIN_ABI ? ", or upgrade Headrace" : "");
    }
    HEADRACE_ASSIGN_OR_RETURN(const headrace_plugin table, ReadStruct(given, kFirstPlugin, "headrace_plugin"));
    HEADRACE_RETURN_IF_ERROR(CheckText(table.name, true, "name"));
    HEADRACE_RETURN_IF_ERROR(CheckText(table.version, true, "version of its own"));
    HEADRACE_RETURN_IF_ERROR(CheckText(table.doc, false, "doc"));
    auto plugin = std::make_unique<Plugin>();
    plugin->name = table.name;
    plugin->path = path;
    plugin->version = table.version;
    plugin->doc = table.doc == nullptr ? "" : table.doc;
    for (auto kernel = table.kernels; kernel != nullptr && *kernel != nullptr; ++kernel) {
      HEADRACE_ASSIGN_OR_RETURN(plugin->kernels.emplace_back(), ReadKernel(plugin->name, *kernel));
    }
    return plugin;
  }

  std::mutex mutex_;
  std::map<std::string, const Plugin*, std::less<>> by_name_;
  std::map<Query*, const Plugin*> by_entry_;
};

}  // namespace

absl::StatusOr<const Plugin*> LoadPlugin(const std::string& path) { return Plugins::Global().Load(path); }

}  // namespace headrace
