// `StorageSettings` says how a far store is reached; `StorageTable` holds settings by scheme ("s3") or by the beginning
// of a URL ("s3://bucket/folder"), of which the longest that fits counts. They are never part of a graph, a state, a
// profile or an error: nothing here turns them into text. Threads: immutable once made.
#ifndef HEADRACE_IO_FILES_STORAGE_SETTINGS_H_
#define HEADRACE_IO_FILES_STORAGE_SETTINGS_H_

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace headrace {

// Empty or 0: not given; the store's own rules decide (environment, profile files).
struct StorageSettings {
  std::string endpoint;  // "https://minio.lan:9000"
  std::string region;
  std::string profile;  // of the store's profile files
  bool anonymous = false;
  std::string access_key;
  std::string secret_key;
  std::string token;
  std::string ca_file;
  std::string proxy;         // "http://proxy.lan:3128"
  double timeout = 0;        // seconds without a byte until a request is given up; 0: 60
  int connections = 0;       // to one host, at once; 0: chosen
  std::string user;          // HDFS: user.name
  std::string object_cache;  // a folder of this machine, for copies of what was read
  int64_t object_cache_bytes = 0;

  friend bool operator==(const StorageSettings&, const StorageSettings&) = default;
  friend auto operator<=>(const StorageSettings&, const StorageSettings&) = default;
};

using StorageValue = std::variant<bool, int64_t, double, std::string>;

// kGraph: no such key, with those that there are; a value of another type or out of range; keys that need another one,
// or exclude it. No error has a value in it.
absl::StatusOr<StorageSettings> StorageSettingsOf(absl::Span<const std::pair<std::string, StorageValue>> given);
// What StorageSettingsOf makes them of, without what is not given.
std::vector<std::pair<std::string, StorageValue>> GivenSettings(const StorageSettings& settings);

// kGraph: neither a scheme nor the beginning of a URL.
absl::Status CheckStorageBeginning(std::string_view of);

class StorageTable {
 public:
  // `of`: a scheme ("s3", "s3://") or the beginning of a URL ("s3://bucket/"), with or without a '/' at its end.
  void Set(std::string of, StorageSettings settings);
  // The settings for a URL, and the beginning by which they were found ("" and no settings: none fits). A beginning
  // ends at a '/', or where the URL ends.
  struct Found {
    std::string_view of;
    StorageSettings settings;
  };
  Found For(std::string_view url) const;
  // These settings, and those of `over` in their place where both have one of a beginning.
  StorageTable With(const StorageTable& over) const;

  bool empty() const { return by_beginning_.empty(); }
  // By what For compares.
  const std::map<std::string, StorageSettings, std::less<>>& by_beginning() const { return by_beginning_; }

  friend bool operator==(const StorageTable&, const StorageTable&) = default;
  friend auto operator<=>(const StorageTable&, const StorageTable&) = default;

 private:
  std::map<std::string, StorageSettings, std::less<>> by_beginning_;
};

// While it lives, DefaultFileSystem() on this thread uses these settings, over those of an outer scope.
class StorageScope {
 public:
  explicit StorageScope(const StorageTable& table);
  // For a thread that works for another one: its settings in place of this thread's.
  explicit StorageScope(std::shared_ptr<const StorageTable> of_other);
  ~StorageScope();
  StorageScope(const StorageScope&) = delete;

 private:
  std::shared_ptr<const StorageTable> outer_;
};
// The settings of this thread's scopes; never null.
std::shared_ptr<const StorageTable> CurrentStorage();

class FileSystem;
// The registry's file systems with these settings. The same for equal tables while no file system is registered, and
// lives as long as the process.
const FileSystem* FileSystemWith(const std::shared_ptr<const StorageTable>& table);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_STORAGE_SETTINGS_H_
