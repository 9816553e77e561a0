// `KeptByFiles` caches values derived from files, such as a parsed list or an index, for the next iteration over the
// same files; a value is derived again once a file has changed. Only the last few are kept. Versions tell a change
// where a file system has them, and change times elsewhere: values of files that changed just before the read are then
// not kept, because a further change might not alter the change time. Nor are values
// that hold much memory, as their `held_bytes()` says, if they have one: they live as long as they are used.
// Threads: any thread; no lock is held while a value is made.
#ifndef HEADRACE_IO_LISTINGS_KEPT_BY_FILES_H_
#define HEADRACE_IO_LISTINGS_KEPT_BY_FILES_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "core/error.h"
#include "io/files/file_system.h"

namespace headrace {

template <typename Value>
class KeptByFiles {
 public:
  static constexpr size_t kMost = 4;
  static constexpr int64_t kMostHeld = int64_t{256} << 20;

  // `now_ns`: since 1970, on the clock of file systems; replaceable in tests.
  explicit KeptByFiles(std::function<int64_t()> now_ns = SystemNow) : now_ns_(std::move(now_ns)) {}

  // The value of that name that was made of these files, or what `make` makes. Files without a version whose change
  // time is not known always count as changed.
  absl::StatusOr<std::shared_ptr<const Value>> Get(const FileSystem& files, const std::string& name,
                                                   std::vector<std::string> paths,
                                                   absl::FunctionRef<absl::StatusOr<Value>()> make) {
    const int64_t began_ns = now_ns_();
    // Looks at the files before they are read, so that a later change is noticed.
    Kept kept{files.kept_as(), name, {}, nullptr};
    for (std::string& path : paths) kept.versions.push_back(VersionOf(files, std::move(path)));
    if (const auto found = Find(kept); found != nullptr && found->versions == kept.versions) return found->value;
    HEADRACE_ASSIGN_OR_RETURN(Value value, make());
    kept.value = std::make_shared<const Value>(std::move(value));
    std::shared_ptr<const Value> made = kept.value;
    Keep(std::move(kept), began_ns);
    return made;
  }

  // The next Get of that name makes it anew.
  void Forget(const FileSystem& files, const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(kept_, [&](const auto& kept) { return kept->files == files.kept_as() && kept->name == name; });
  }

 private:
  // The coarsest change times of known file systems.
  static constexpr int64_t kCoarseNs = 2'000'000'000;

  struct FileVersion {
    std::string path;
    int64_t size = -1;
    std::string version = {};
    int64_t changed_ns = 0;  // 0: not known
    std::string identity = {};

    friend bool operator==(const FileVersion&, const FileVersion&) = default;
  };
  struct Kept {
    const FileSystem* files;
    std::string name;
    std::vector<FileVersion> versions;
    std::shared_ptr<const Value> value;
  };

  static int64_t SystemNow() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  }

  static FileVersion VersionOf(const FileSystem& files, std::string path) {
    const absl::StatusOr<FileStat> stat = files.Stat(path);
    FileVersion version{.path = std::move(path)};
    if (!stat.ok()) return version;
    version.size = stat->size;
    version.version = stat->version;
    version.changed_ns = stat->changed_ns;
    version.identity = stat->identity;
    return version;
  }

  static bool IsSmall(const Value& value) {
    if constexpr (requires { value.held_bytes(); }) {
      return value.held_bytes() <= kMostHeld;
    } else {
      return true;
    }
  }

  std::shared_ptr<const Kept> Find(const Kept& wanted) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& kept : kept_) {
      if (kept->files == wanted.files && kept->name == wanted.name) return kept;
    }
    return nullptr;
  }

  void Keep(Kept kept, int64_t began_ns) {
    const bool keeps = IsSmall(*kept.value) &&
                       std::all_of(kept.versions.begin(), kept.versions.end(), [began_ns](const FileVersion& version) {
                         const bool timed = version.changed_ns > 0 && version.changed_ns < began_ns - kCoarseNs;
                         return !version.version.empty() || timed;
                       });
    const std::shared_ptr<const Kept> old = Find(kept);
    const std::lock_guard<std::mutex> lock(mutex_);
    std::erase(kept_, old);
    if (keeps) kept_.push_front(std::make_shared<const Kept>(std::move(kept)));
    if (kept_.size() > kMost) kept_.pop_back();
  }

  const std::function<int64_t()> now_ns_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<const Kept>> kept_;  // the newest first
};

}  // namespace headrace

#endif  // HEADRACE_IO_LISTINGS_KEPT_BY_FILES_H_
