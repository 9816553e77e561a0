// `RecordLog` keeps records in a folder, where later runs find them by a 64-bit key. Every writer appends to its own
// file and never changes earlier bytes, and every record has checksums of its head and of its bytes. So a writer that
// is killed at any moment leaves only whole records, and many processes may share a folder. A writer that ends normally
// leaves a list of its records; without a list, opening the folder scans the file. However many files there are, few
// are open at once. If ended writers left many small files, the next process that opens the folder copies their records
// into its own file and deletes them. A writer locks its file (flock), so that it is not deleted during its life; a
// reader that misses a merged file lists the folder again and finds the records in the new file. Files of another name,
// format or version are never read, and never deleted. Only regular files are opened, and only this user's are merged
// and deleted. A folder and the files in it are made for this user alone. The contents of files and lists are checked
// before use, because a checksum does not prevent forgery.
// Threads: all methods from any thread; none holds a lock while bytes move.
#ifndef HEADRACE_IO_RECORDS_RECORD_LOG_H_
#define HEADRACE_IO_RECORDS_RECORD_LOG_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/seeded_hash.h"

namespace headrace {

class FileSystem;
class LocalFiles;
class RandomAccessFile;
class WritableFile;

class RecordLog {
 public:
  // Files open for reading at once, besides the file that is written to.
  static constexpr size_t kMostOpen = 16;
  // The number of small files that are not merged.
  static constexpr size_t kMostSmall = 32;

  // Makes the folder, for this user alone, if it is missing. `name` identifies the contents of the records: files
  // written under another name are ignored. kNotFound if the folder cannot be made or read, kUnsupported if it is not
  // on this machine.
  static absl::StatusOr<std::unique_ptr<RecordLog>> Open(const FileSystem& files, const std::string& folder,
                                                         const std::string& name);
  // The limit on the bytes of all files there; call before Append. By default there is none.
  void SetLimit(int64_t limit) { limit_ = limit; }
  ~RecordLog();
  RecordLog(const RecordLog&) = delete;

  // The length of the record's bytes; nullopt: there is no record.
  std::optional<size_t> Find(uint64_t key) const;
  // Fills `bytes`, whose length is that of Find. False if no file holds the record any more, or all hold damaged bytes:
  // then the record is forgotten.
  bool Read(uint64_t key, absl::Span<uint8_t> bytes);
  // Returns whether the record is kept now. False if it would exceed the limit, and after writing has failed.
  bool Append(uint64_t key, absl::Span<const uint8_t> bytes);
  // If it returns true, all appended records are on the disk.
  bool Flush();
  // Writes the list of records; no Append may follow.
  void Finish();
  // Forgets all records and deletes their files, except those that other processes write to.
  void Clear();

  size_t records() const;
  // The number of files open now.
  size_t open_files() const;
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Writing has failed: usually the disk is full.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  struct File {
    std::string path;
    int64_t size = 0;
    bool gone = false;
  };
  struct Location {
    uint32_t file;
    uint32_t checksum;
    int64_t offset;  // of the record's bytes
    uint64_t length;
  };
  // The contents of a file.
  struct Contents {
    File file;
    std::vector<std::pair<uint64_t, Location>> records;
  };
  using SharedFile = std::shared_ptr<const RandomAccessFile>;

  RecordLog(const LocalFiles* disk, std::string folder, uint64_t name)
      : disk_(disk), folder_(std::move(folder)), name_(name) {}
  absl::StatusOr<std::vector<std::string>> ListFiles() const;
  std::optional<Contents> ReadContents(const std::string& path) const;
  // Adds the records in the list; returns the offset from which on it lists none.
  int64_t ReadList(const File& file, Contents& contents) const;
  void AdoptLocked(Contents contents);
  absl::StatusOr<SharedFile> OpenForReading(uint32_t file);
  // Lists the folder again, for files that others merged.
  void ListAnew();
  void MergeSmallFiles();
  bool Merge(uint32_t file, absl::Span<const uint64_t> keys);
  bool Copy(const RandomAccessFile& from, uint64_t key);
  bool StartWritingLocked();
  std::optional<Location> Write(uint64_t key, absl::Span<const uint8_t> bytes, bool within_limit);
  void Forget(uint64_t key, const Location& location);
  void UseSpareLocked(uint64_t key);
  void LoseLocked(absl::Span<const uint32_t> files);

  void Delete(const std::string& path) const;

  const LocalFiles* const disk_;
  const std::string folder_;
  const uint64_t name_;
  int64_t limit_ = std::numeric_limits<int64_t>::max();
  std::mutex listing_mutex_;  // held while the folder is listed again
  mutable std::mutex mutex_;
  std::vector<File> files_;
  std::unordered_map<uint64_t, Location, SeededHash> locations_;
  // Further locations of records that several files hold, for example because one was found damaged and made again:
  // read if the one in locations_ is damaged.
  std::unordered_map<uint64_t, std::vector<Location>, SeededHash> spares_;
  std::deque<std::pair<uint32_t, SharedFile>> open_;  // for reading, the most recently used first
  int own_ = -1;                                      // index of the file written to; -1: none
  std::shared_ptr<const WritableFile> own_file_;
  bool finished_ = false;
  int writing_ = 0;
  std::atomic<int64_t> bytes_{0};
  std::atomic<bool> failed_{false};
};

}  // namespace headrace

#endif  // HEADRACE_IO_RECORDS_RECORD_LOG_H_
