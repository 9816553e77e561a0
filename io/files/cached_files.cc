#include "io/files/cached_files.h"

#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

MakeCachedFiles& RegisteredCache() {
  static auto* const make = new MakeCachedFiles;
  return *make;
}

}  // namespace

CachedFilesRegistration::CachedFilesRegistration(MakeCachedFiles make) { RegisteredCache() = std::move(make); }

absl::StatusOr<std::unique_ptr<FileSystem>> CachedFiles(std::unique_ptr<FileSystem> far,
                                                        const StorageSettings& settings) {
  if (settings.object_cache.empty()) return far;
  if (!RegisteredCache()) return UnsupportedError("object_cache: this program is linked without a cache of objects");
  return RegisteredCache()(std::move(far), settings);
}

}  // namespace headrace
