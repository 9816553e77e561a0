// Records kept in a folder by a 64-bit key, for later runs to find. Every writer adds to a file of its own, which it
// never changes but at its end, and every record has a checksum of what it is and of what it holds: so a writer that is
// killed at any moment leaves records that are whole or are not there, and many processes may share a folder. A writer
// that comes to its end leaves a list of its records; without one, opening the folder goes through the file.
// However many files there are, few are open at once. Where ended writers left many small ones, whoever opens the
// folder next copies what they hold into its own file and deletes them. A writer locks its file (flock), so nobody
// takes it away while it lives; who misses a file that was merged lists the folder anew and finds its records there.
// Files of another name, format or version are never read, and never deleted. Only regular files are opened. What a
// file or a list says is checked before it is used, for a checksum keeps nobody from writing it.
// Thread contract: all methods from any thread; none holds a lock while bytes move.
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
#include "io/files/descriptor.h"

namespace headrace {

class RecordLog {
 public:
  // Files open for reading at once, besides the one that is written to.
  static constexpr size_t kMostOpen = 16;
  // Small files that are left as they are.
  static constexpr size_t kMostSmall = 32;

  // `folder` is made where it is missing. `name` says what the records are: files that were written under another
  // one are passed over. kNotFound where the folder cannot be made or read.
  static absl::StatusOr<std::unique_ptr<RecordLog>> Open(const std::string& folder, const std::string& name);
  // Of the bytes of all files there; before anything is appended. Without one there is none.
  void SetLimit(int64_t limit) { limit_ = limit; }
  ~RecordLog();
  RecordLog(const RecordLog&) = delete;

  // Length of the record's bytes; nullopt: there is none.
  std::optional<size_t> Find(uint64_t key) const;
  // Fills `bytes`, which is as long as Find said. False where no file holds the record any more, or all hold other
  // bytes: then it is forgotten.
  bool Read(uint64_t key, absl::Span<uint8_t> bytes);
  // Returns whether the record is kept now. Not where it would pass the limit, nor once writing has failed.
  bool Append(uint64_t key, absl::Span<const uint8_t> bytes);
  // What was appended is on the disk when it returns true.
  bool Flush();
  // Writes the list of records; nothing is appended from then on.
  void Finish();
  // Forgets all records and deletes their files, but for those that others write to.
  void Clear();

  size_t records() const;
  // Of files that are open now.
  size_t open_files() const;
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Writing has failed: the disk is full, as a rule.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  struct File {
    std::string path;
    int64_t size = 0;
    bool gone = false;
  };
  struct Place {
    uint32_t file;
    uint32_t checksum;
    int64_t offset;  // of the record's bytes
    uint64_t length;
  };
  // What a file was found to hold.
  struct Contents {
    File file;
    std::vector<std::pair<uint64_t, Place>> records;
  };
  using SharedDescriptor = std::shared_ptr<const Descriptor>;

  RecordLog(std::string folder, uint64_t name) : folder_(std::move(folder)), name_(name) {}
  absl::StatusOr<std::vector<std::string>> ListFiles() const;
  std::optional<Contents> ReadContents(const std::string& path) const;
  // Takes what the list names; the offset from which on nothing is named.
  int64_t ReadList(const File& file, Contents& contents) const;
  void AdoptLocked(Contents contents);
  // Null where the file cannot be opened, and the system's error; 0: it is no regular file.
  SharedDescriptor OpenForReading(uint32_t file, int& error);
  // Looks for what others merged.
  void ListAnew();
  void MergeSmallFiles();
  bool Merge(uint32_t file, absl::Span<const uint64_t> keys);
  bool Copy(int from, uint64_t key);
  bool StartWritingLocked();
  std::optional<Place> Write(uint64_t key, absl::Span<const uint8_t> bytes, bool within_limit);
  void Forget(uint64_t key, const Place& place);
  void UseSpareLocked(uint64_t key);
  void LoseLocked(absl::Span<const uint32_t> files);

  const std::string folder_;
  const uint64_t name_;
  int64_t limit_ = std::numeric_limits<int64_t>::max();
  std::mutex listing_mutex_;  // held while the folder is listed anew
  mutable std::mutex mutex_;
  std::vector<File> files_;
  std::unordered_map<uint64_t, Place> places_;
  // Records that more than one file holds, as where one was found damaged and made again: what is read when the one in
  // places_ proves bad.
  std::unordered_map<uint64_t, std::vector<Place>> spares_;
  std::deque<std::pair<uint32_t, SharedDescriptor>> open_;  // for reading, the latest first
  int own_ = -1;                                            // the file written to
  SharedDescriptor own_descriptor_;
  bool finished_ = false;
  int writing_ = 0;
  std::atomic<int64_t> bytes_{0};
  std::atomic<bool> failed_{false};
};

}  // namespace headrace

#endif  // HEADRACE_IO_RECORDS_RECORD_LOG_H_
