#include "io/files/store_makers.h"

#include <unistd.h>

#include <mutex>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "io/files/file_system.h"

namespace headrace {
namespace {

// Never destroyed, as registrations run before main and stores are used until the end of the process.
struct Registered {
  std::mutex mutex;
  std::shared_ptr<const StoreMakers> current = std::make_shared<const StoreMakers>();

  static Registered& Get() {
    static auto* const registered = new Registered;
    return *registered;
  }

  template <typename Change>
  void Replace(const Change& change) {
    const std::lock_guard<std::mutex> lock(mutex);
    auto next = std::make_shared<StoreMakers>(*current);
    change(*next);
    current = std::move(next);
  }
};

// One that is being made keeps only those waiting that want the same.
struct Store {
  std::mutex mutex;
  std::unique_ptr<const FileSystem> files;
};

using MakerAndCache = std::pair<std::shared_ptr<const MakeFileSystem>, std::shared_ptr<const WrapFileSystem>>;
using StoreKey = std::tuple<MakerAndCache, StorageSettings, pid_t>;

Store& StoreOf(StoreKey key) {
  static auto* const mutex = new std::mutex;
  static auto* const stores = new std::map<StoreKey, Store>;
  const std::lock_guard<std::mutex> lock(*mutex);
  return (*stores)[std::move(key)];
}

absl::StatusOr<std::unique_ptr<FileSystem>> MakeStore(const MakerAndCache& how, const StorageSettings& settings) {
  if (settings.object_cache.empty()) return (*how.first)(settings);
  if (how.second == nullptr) {
    return UnsupportedError("storage=: this build of Headrace has no object cache; leave out object_cache");
  }
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<FileSystem> files, (*how.first)(settings));
  return (*how.second)(std::move(files), settings);
}

}  // namespace

void RegisterFileSystem(std::string scheme, MakeFileSystem make) {
  auto maker = std::make_shared<const MakeFileSystem>(std::move(make));
  Registered::Get().Replace([&](StoreMakers& makers) { makers.by_scheme.insert_or_assign(scheme, maker); });
}

void RegisterObjectCache(WrapFileSystem wrap) {
  auto cache = std::make_shared<const WrapFileSystem>(std::move(wrap));
  Registered::Get().Replace([&](StoreMakers& makers) { makers.object_cache = cache; });
}

std::shared_ptr<const StoreMakers> CurrentStoreMakers() {
  Registered& registered = Registered::Get();
  const std::lock_guard<std::mutex> lock(registered.mutex);
  return registered.current;
}

absl::StatusOr<const FileSystem*> MadeStore(const StoreMakers& makers, std::string_view scheme,
                                            const StorageSettings& settings) {
  const auto maker = makers.by_scheme.find(scheme);
  if (maker == makers.by_scheme.end()) return InternalError("no file system is registered for ", scheme, "://");
  MakerAndCache how(maker->second, settings.object_cache.empty() ? nullptr : makers.object_cache);
  Store& store = StoreOf({how, settings, getpid()});
  const std::lock_guard<std::mutex> lock(store.mutex);
  if (store.files == nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(store.files, MakeStore(how, settings));
  }
  return store.files.get();
}

}  // namespace headrace
