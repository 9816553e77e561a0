// `PartFolder` keeps parts of objects in a folder of this machine that many processes share, a file each, within a
// limit that holds for all of them together: before a part is written its bytes are counted in the folder's ledger,
// which one process at a time has locked, and where they do not fit, the least recently used files are removed. A file
// gets its name when it is whole, so a process that is killed at any moment leaves only whole files, and drafts that
// the next removal deletes; the ledger may count too much then, never too little, and the removal, which looks at all
// files, sets it right. Files of other names are never read, and never removed. A disk that fails, or is full, ends the
// writing of this process; what is there is still read.
// Threads: any thread; no lock is held while a part's bytes move.
#ifndef HEADRACE_IO_FILES_OBJECT_CACHE_PART_FOLDER_H_
#define HEADRACE_IO_FILES_OBJECT_CACHE_PART_FOLDER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/object_cache/part.h"
#include "io/files/object_cache/part_file.h"

namespace headrace {
class FileSystem;
class LocalFiles;
class WritableFile;
}  // namespace headrace

namespace headrace::object_cache {

class PartFolder {
 public:
  struct Options {
    int64_t limit = 0;  // bytes of all files; 0: what is there, and half of what the disk has free
    // A file that is used counts as used just now if that was noted longer ago than this.
    int64_t noted_ns = 60'000'000'000;
  };

  // Makes the folder, for this user alone, if it is missing. kNotFound if it cannot be made, kUnsupported if it is not
  // on this machine.
  static absl::StatusOr<std::unique_ptr<PartFolder>> Open(const FileSystem& files, const std::string& folder,
                                                          const Options& options);

  // nullopt: the part is not kept.
  std::optional<PartFile> Find(const PartKey& key) const;
  // Whether the part is kept now. Not if it does not fit, another process is writing it or is removing files, or the
  // disk has failed.
  bool Store(const PartKey& key, absl::Span<const uint8_t> bytes);
  // Removes a part that was found damaged.
  void Drop(const PartKey& key) const;

  int64_t limit() const { return limit_; }
  // Why this process writes no more; empty: it does.
  std::string problem() const;

 private:
  // A file of a part, by what is in its name.
  struct Kept {
    int64_t used_ns = 0;
    int64_t bytes = 0;
    uint64_t high = 0;
    uint64_t low = 0;
  };
  struct Contents {
    std::vector<Kept> parts;
    int64_t bytes = 0;  // of the parts and of what is being written
  };
  using Ledger = std::shared_ptr<const WritableFile>;

  PartFolder(const LocalFiles* disk, std::string root, const Options& options)
      : disk_(disk), root_(std::move(root)), options_(options) {}
  std::string PathOf(const Kept& part) const;
  std::string PathOf(const PartKey& key) const;
  absl::Status WriteFile(const std::string& path, const PartKey& key, absl::Span<const uint8_t> bytes);
  // Counts the bytes in the ledger; false: they do not fit, or others have the ledger for longer than a moment.
  bool Reserve(int64_t bytes);
  bool ReserveLocked(int64_t bytes);
  Ledger OpenLedger() const;
  std::optional<int64_t> ReadLedger(const Ledger& ledger) const;
  bool WriteLedger(const Ledger& ledger, int64_t bytes) const;
  // Removes the least recently used parts until `wanted` bytes fit: the bytes that are left; nullopt: it was
  // interrupted.
  std::optional<int64_t> MakeRoom(int64_t wanted) const;
  std::optional<Contents> LookThrough() const;
  bool LookThroughOne(const std::string& folder, Contents& contents) const;
  void LookAt(const std::string& folder, std::string_view name, Contents& contents) const;
  void Stop(const absl::Status& error);

  const LocalFiles* const disk_;
  const std::string root_;
  const Options options_;
  int64_t limit_ = 0;
  std::mutex ledger_mutex_;  // held with the ledger's lock
  std::atomic<bool> stopped_{false};
  mutable std::mutex problem_mutex_;
  std::string problem_;
};

}  // namespace headrace::object_cache

#endif  // HEADRACE_IO_FILES_OBJECT_CACHE_PART_FOLDER_H_
