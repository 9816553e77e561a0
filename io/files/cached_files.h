// `CachedFiles` puts a cache on this machine's disk in front of a far store, where settings name a folder for one
// (StorageSettings::object_cache). The cache is a room of its own over this one (io/files/object_cache), and registers
// itself before main. Threads: any thread.
#ifndef HEADRACE_IO_FILES_CACHED_FILES_H_
#define HEADRACE_IO_FILES_CACHED_FILES_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/files/storage_settings.h"

namespace headrace {

// `far` itself if the settings name no folder. kNotFound: the folder cannot be made; kUnsupported: it is not on this
// machine, or this program has no cache.
absl::StatusOr<std::unique_ptr<FileSystem>> CachedFiles(std::unique_ptr<FileSystem> far,
                                                        const StorageSettings& settings);

using MakeCachedFiles = std::function<absl::StatusOr<std::unique_ptr<FileSystem>>(std::unique_ptr<FileSystem> far,
                                                                                  const StorageSettings& settings)>;
struct CachedFilesRegistration {
  explicit CachedFilesRegistration(MakeCachedFiles make);
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_CACHED_FILES_H_
