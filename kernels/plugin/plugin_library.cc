#include "kernels/plugin/plugin_library.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "headrace_plugin.h"
#include "kernels/kernel.h"
#include "kernels/plugin/plugin_call.h"
#include "kernels/plugin/plugin_kernel.h"
#include "kernels/plugin/plugin_struct.h"

namespace headrace {
namespace {

constexpr char kVersion[] = "headrace_plugin_abi";
constexpr char kEntry[] = "headrace_plugin_query";
using Query = decltype(headrace_plugin_query);

// Of version 1.0 of the interface.
constexpr size_t kFirstPlugin = 40;
static_assert(offsetof(headrace_plugin, sources) == kFirstPlugin, "structures may only grow at their ends");

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

  // Null: there is none.
  const uint32_t* Version() const { return static_cast<const uint32_t*>(dlsym(handle_, kVersion)); }
  Query* Entry() const { return reinterpret_cast<Query*>(dlsym(handle_, kEntry)); }
  void Keep() { handle_ = nullptr; }

 private:
  void* handle_;
};

// Which file it is, and which state of it.
struct FileState {
  explicit FileState(const struct stat& file)
      : device(file.st_dev), inode(file.st_ino), seconds(file.st_mtim.tv_sec), nanoseconds(file.st_mtim.tv_nsec) {}
  friend bool operator==(const FileState&, const FileState&) = default;

  dev_t device;
  ino_t inode;
  time_t seconds;
  int64_t nanoseconds;
};

absl::Status CheckVersion(uint32_t needed) {
  if (needed >> 16 == HEADRACE_PLUGIN_ABI_MAJOR && needed <= HEADRACE_PLUGIN_ABI) return absl::OkStatus();
  return UnsupportedError("needs version ", VersionText(needed), " of the interface; this Headrace has version ",
                          VersionText(HEADRACE_PLUGIN_ABI), ": build it with this Headrace's headrace_plugin.h",
                          needed > HEADRACE_PLUGIN_ABI ? ", or upgrade Headrace" : "");
}

absl::StatusOr<const headrace_plugin*> Ask(Query* query) {
  const headrace_plugin* plugin = nullptr;
  headrace_call call("the library", kEntry);
  const absl::Status asked =
      call.Run([&](headrace_call* call) { return query(HEADRACE_PLUGIN_ABI, &PluginHost(), call, &plugin); });
  if (!asked.ok()) return UnsupportedError("cannot be used here: ", asked.message());
  if (plugin == nullptr) return UnsupportedError("is wrong: its ", kEntry, "() gives no plugin and no error");
  return plugin;
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

PluginReaders& Readers() {
  static PluginReaders readers;
  return readers;
}

// Its operators, in a registry of their own: which finds what is wrong before anything is registered.
absl::Status CheckOperators(const Plugin& plugin) {
  ir::Registry own;
  const auto check = [&](const auto& tables, const auto& declare) -> absl::Status {
    for (const auto& table : tables) {
      const absl::Status fits = own.Register(declare(plugin.name, table));
      if (!fits.ok()) return UnsupportedError("is wrong: ", fits.message());
    }
    return absl::OkStatus();
  };
  const auto declare_kernel = [](std::string_view name, const PluginKernelTable& table) {
    return DeclarationOf(name, table);
  };
  HEADRACE_RETURN_IF_ERROR(check(plugin.kernels, declare_kernel));
  const PluginReaders& readers = Readers();
  if (readers.declare_source != nullptr) HEADRACE_RETURN_IF_ERROR(check(plugin.sources, readers.declare_source));
  if (readers.declare_format == nullptr) return absl::OkStatus();
  return check(plugin.formats, readers.declare_format);
}

template <typename Tables, typename Register>
absl::Status RegisterReaders(const Plugin& plugin, const Tables& tables, Register* register_one) {
  if (register_one == nullptr) return absl::OkStatus();
  for (const auto& table : tables) HEADRACE_RETURN_IF_ERROR(register_one(plugin.name, table));
  return absl::OkStatus();
}

absl::Status RegisterOperators(const Plugin& plugin) {
  for (const PluginKernelTable& table : plugin.kernels) {
    ir::Declaration declaration = DeclarationOf(plugin.name, table);
    declaration.infer_kernel = InferOf(table);
    HEADRACE_RETURN_IF_ERROR(RegisterKernel(std::move(declaration), FactoryOf(table)));
  }
  HEADRACE_RETURN_IF_ERROR(RegisterReaders(plugin, plugin.sources, Readers().register_source));
  return RegisterReaders(plugin, plugin.formats, Readers().register_format);
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
    absl::StatusOr<const Plugin*> plugin = Open(path, FileState(file));
    if (plugin.ok()) return plugin;
    return MakeError(KindOf(plugin.status()), Cat("the plugin ", path, " ", ToStd(plugin.status().message())));
  }

 private:
  struct Opened {
    FileState file;                  // when its code was first called
    const Plugin* plugin = nullptr;  // null: it was refused
  };

  absl::StatusOr<const Plugin*> Open(const std::string& path, const FileState& file) {
    // A name alone would be looked for where the system has its libraries, and not be the file that was looked at.
    const std::string file_path = path.find('/') == std::string::npos ? Cat("./", path) : path;
    void* const handle = dlopen(file_path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return UnsupportedError("cannot be loaded: ", ReasonOfSystem());
    Library library(handle);
    const uint32_t* const version = library.Version();
    if (version == nullptr) return UnsupportedError("is no plugin of Headrace: it does not export ", kVersion);
    HEADRACE_RETURN_IF_ERROR(CheckVersion(*version));
    Query* const query = library.Entry();
    if (query == nullptr) return UnsupportedError("is no plugin of Headrace: it does not export ", kEntry, "()");
    // Once its code has run, threads of its own may run it at any time.
    library.Keep();
    // A file that is loaded already gives the same entry, even if its path leads to another file now.
    Opened& opened = by_entry_.try_emplace(query, Opened{file}).first->second;
    if (opened.file != file) return UnsupportedError("has changed since it was loaded; start a new process");
    if (opened.plugin == nullptr) {
      HEADRACE_ASSIGN_OR_RETURN(opened.plugin, Add(path, query));
    }
    return opened.plugin;
  }

  absl::StatusOr<const Plugin*> Add(const std::string& path, Query* query) {
    HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Plugin> plugin, Read(path, query));
    HEADRACE_RETURN_IF_ERROR(CheckName(plugin->name, by_name_));
    HEADRACE_RETURN_IF_ERROR(CheckOperators(*plugin));
    const Plugin* const kept = plugin.release();
    by_name_.emplace(kept->name, kept);
    HEADRACE_RETURN_IF_ERROR(RegisterOperators(*kept));
    return kept;
  }

  static absl::StatusOr<std::unique_ptr<Plugin>> Read(const std::string& path, Query* query) {
    HEADRACE_ASSIGN_OR_RETURN(const headrace_plugin* given, Ask(query));
    HEADRACE_ASSIGN_OR_RETURN(const headrace_plugin table, ReadStruct(given, kFirstPlugin, "headrace_plugin"));
    if (table.reserved != 0) return UnsupportedError("sets the reserved field of headrace_plugin to ", table.reserved);
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
    for (auto source = table.sources; source != nullptr && *source != nullptr; ++source) {
      HEADRACE_ASSIGN_OR_RETURN(plugin->sources.emplace_back(), ReadSource(plugin->name, *source));
    }
    for (auto format = table.formats; format != nullptr && *format != nullptr; ++format) {
      HEADRACE_ASSIGN_OR_RETURN(plugin->formats.emplace_back(), ReadFormat(plugin->name, *format));
    }
    return plugin;
  }

  std::mutex mutex_;
  std::map<std::string, const Plugin*, std::less<>> by_name_;
  // Of every library that was called, refused ones too.
  std::map<Query*, Opened> by_entry_;
};

}  // namespace

void SetPluginReaders(const PluginReaders& readers) { Readers() = readers; }

absl::StatusOr<const Plugin*> LoadPlugin(const std::string& path) { return Plugins::Global().Load(path); }

}  // namespace headrace
