// `FarFiles` is what a store behind a network has beside `FileSystem`: listings of a whole tree in few requests, and
// counts of what the network did. FileSystem::far gives it, so that sources ask a far store about many files at once
// instead of one by one. Threads: any thread.
#ifndef HEADRACE_IO_FILES_FAR_FILES_H_
#define HEADRACE_IO_FILES_FAR_FILES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"

namespace headrace {

// What a store has done for this process since it was first used.
struct StoreCounters {
  int64_t reads = 0;        // requests for bytes of files, without those repeated
  int64_t lists = 0;        // requests for listings, and for what is known of single files
  int64_t writes = 0;       // requests that write
  int64_t received = 0;     // bytes of bodies
  int64_t sent = 0;         // bytes of bodies
  int64_t retries = 0;      // requests repeated after a fault
  int64_t throttled = 0;    // replies that asked to slow down
  int64_t hedges = 0;       // requests sent a second time because the first was slow
  int64_t connections = 0;  // opened
  int64_t waiting_ns = 0;   // of requests, together: from the sending to the first byte of the reply
  int64_t transfer_ns = 0;  // of requests, together: from the first byte to the last
  int64_t paused_ns = 0;    // of requests, together: before they were sent, for retries and limits
  // Reads that a cache on this machine's disk served, without a request (StorageSettings::object_cache), and their
  // bytes.
  int64_t cached = 0;
  int64_t cached_bytes = 0;
};

// What was counted between two moments.
StoreCounters Since(const StoreCounters& now, const StoreCounters& before);
void AddTo(StoreCounters& sum, const StoreCounters& counters);
// Of all kinds, without those repeated.
int64_t RequestsOf(const StoreCounters& counters);

class FarFiles {
 public:
  virtual ~FarFiles() = default;
  // All files below a folder with sizes and versions, in byte order of their names, which are relative to the folder
  // ("cat/1.jpg"). Pages may be read ahead, from several prefixes at once.
  virtual absl::StatusOr<std::unique_ptr<FolderPages>> ListTree(const std::string& folder) const = 0;
  // Says that these files, which were named and not listed, are asked about next, so that a listing may answer for many
  // of them. By default nothing is done.
  virtual void Expect(absl::Span<const std::string> /*paths*/) const {}
  virtual StoreCounters counters() const = 0;
  // Whether reads of a file opened as listed refuse another version. Without, the version is compared at Open alone,
  // and whoever reads compares it again at the end.
  virtual bool conditional_reads() const { return true; }
  // How many reads keep its network busy, at most: what sources may have outstanding.
  virtual int most_outstanding() const = 0;
  // US dollars at list price for these counts; below 0: not known.
  virtual double ListPrice(const StoreCounters& /*counters*/) const { return -1; }
  // What the user should know of it, such as why a cache is not filled any more. Empty: nothing.
  virtual std::string Warning() const { return {}; }
  // What is known of a file without a request, by default nothing.
  virtual ListedFile ListedAs(const std::string& /*path*/) const { return {}; }
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FAR_FILES_H_
