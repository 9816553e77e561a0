// `PartReads` serves ranges of parts, from the folder or else from the store: however many ask for a part at once, it
// is fetched once, as a whole, and kept. Parts that are fetched are in memory of the cache's own, of which there is
// little: further ones wait.
// Threads: any thread; it outlives its reads.
#ifndef HEADRACE_IO_FILES_OBJECT_CACHE_PART_READS_H_
#define HEADRACE_IO_FILES_OBJECT_CACHE_PART_READS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "io/files/file_system.h"
#include "io/files/object_cache/disk_threads.h"
#include "io/files/object_cache/part.h"
#include "io/files/object_cache/part_file.h"
#include "io/files/object_cache/part_folder.h"

namespace headrace::object_cache {

class PartReads {
 public:
  // Bytes of parts that are being fetched, of all together; one part may exceed it.
  static constexpr int64_t kMostFetched = int64_t{256} << 20;

  // Gives the store's own file; called at the first part that the folder lacks.
  using OpenFar = std::function<absl::StatusOr<std::shared_ptr<const RandomAccessFile>>()>;
  struct Range {
    int64_t offset = 0;  // within the part
    absl::Span<uint8_t> target;
    std::function<void(absl::Status)> done;  // on any thread, once
  };

  PartReads(PartFolder* folder, DiskThreads* threads) : folder_(folder), threads_(threads) {}

  void Start(const PartKey& key, const Part& part, const std::string& url, OpenFar open_far, Range range);
  // The same, but waits.
  absl::Status Read(const PartKey& key, const Part& part, const std::string& url, const OpenFar& open_far,
                    int64_t offset, absl::Span<uint8_t> target);

  // What the folder served.
  int64_t found() const { return found_.load(std::memory_order_relaxed); }
  int64_t found_bytes() const { return found_bytes_.load(std::memory_order_relaxed); }
  void CountFound(int64_t bytes);

 private:
  // A part that is looked up or fetched, with those who wait for it.
  struct Flight {
    PartKey key;
    Part part;
    std::string url;
    OpenFar open_far;
    std::vector<Range> waiting;  // under mutex_
  };
  using FlightPtr = std::shared_ptr<Flight>;

  // Those who wait now; none: the flight has ended, and the next one who asks begins another.
  std::vector<Range> TakeWaiting(const FlightPtr& flight);
  void LookUp(const FlightPtr& flight);
  void Fetch(const FlightPtr& flight);
  void FetchNow(const FlightPtr& flight);
  void Arrived(const FlightPtr& flight, const BufferRef& buffer, const absl::StatusOr<int64_t>& read);
  void Fail(const FlightPtr& flight, const absl::Status& error);
  // Its memory is free again: starts what waits for it.
  void EndFetch(const FlightPtr& flight);

  PartFolder* const folder_;
  DiskThreads* const threads_;
  std::mutex mutex_;
  std::map<std::string, FlightPtr> flights_;  // by the key's text
  std::deque<FlightPtr> delayed_;
  int64_t fetched_bytes_ = 0;
  std::atomic<int64_t> found_{0};
  std::atomic<int64_t> found_bytes_{0};
};

}  // namespace headrace::object_cache

#endif  // HEADRACE_IO_FILES_OBJECT_CACHE_PART_READS_H_
