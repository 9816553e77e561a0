// `RegisterFileSystem` adds a file system for the URLs of a scheme, before main by a `FileSystemRegistration` in the
// store's own file, or while the process runs. Threads: any thread.
#ifndef HEADRACE_IO_FILES_FILE_SYSTEM_REGISTRATION_H_
#define HEADRACE_IO_FILES_FILE_SYSTEM_REGISTRATION_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "io/files/storage_settings.h"

namespace headrace {

class FileSystem;

// Makes the file system that serves URLs of a scheme with these settings; called once for equal settings, when the
// first such URL is used. It gets whole URLs, "s3://bucket/key", and lives as long as the process.
using MakeFileSystem = std::function<absl::StatusOr<std::unique_ptr<FileSystem>>(const StorageSettings& settings)>;

// `scheme`: "s3". Replaces the maker of that scheme for paths used from now on; runs that have begun keep theirs.
void RegisterFileSystem(std::string scheme, MakeFileSystem make);

// Puts a cache of objects around a file system just made, for settings that name an object_cache. Without one, such
// settings are an error.
using WrapFileSystem = std::function<absl::StatusOr<std::unique_ptr<FileSystem>>(std::unique_ptr<FileSystem> files,
                                                                                 const StorageSettings& settings)>;
void RegisterObjectCache(WrapFileSystem wrap);

struct FileSystemRegistration {
  FileSystemRegistration(std::string scheme, MakeFileSystem make) {
    RegisterFileSystem(std::move(scheme), std::move(make));
  }
};

struct ObjectCacheRegistration {
  explicit ObjectCacheRegistration(WrapFileSystem wrap) { RegisterObjectCache(std::move(wrap)); }
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FILE_SYSTEM_REGISTRATION_H_
