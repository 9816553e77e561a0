// `RowGroupCache` keeps decoded row groups for reading rows by number, up to a number of bytes: the ones read last. A
// row group that several threads ask for is decoded once, by the first of them. Threads: any thread.
#ifndef HEADRACE_OPS_SOURCE_PARQUET_ROW_GROUP_CACHE_H_
#define HEADRACE_OPS_SOURCE_PARQUET_ROW_GROUP_CACHE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/source/parquet/parquet_files.h"

namespace headrace {

// All rows of a row group.
struct DecodedGroup {
  OpenedParquet opened;
  std::vector<ParquetRun> runs;
  int64_t bytes = 0;

  // The run that has the row of the row group.
  const ParquetRun& RunOf(uint64_t row) const;
};

class RowGroupCache {
 public:
  // `files` outlives it. The latest row group is kept even if it alone has more than `most_bytes`.
  RowGroupCache(ParquetFiles* files, int64_t most_bytes) : files_(files), most_bytes_(most_bytes) {}

  // Errors are not kept: the next call tries again.
  absl::StatusOr<std::shared_ptr<const DecodedGroup>> Get(size_t group);

 private:
  struct Entry {
    size_t group = 0;
    std::shared_ptr<const DecodedGroup> decoded;  // null: a thread is at it
  };
  using Entries = std::deque<Entry>;

  // A row group that this thread decodes: others wait for it as long as this exists.
  class Claim;

  // The row group, if it is kept; null: the caller has claimed it.
  absl::StatusOr<std::shared_ptr<const DecodedGroup>> KeptOrClaimed(size_t group);
  absl::StatusOr<std::shared_ptr<const DecodedGroup>> Decode(size_t group) const;
  Entries::iterator Find(size_t group);
  void Keep(size_t group, std::shared_ptr<const DecodedGroup> decoded,
            std::vector<std::shared_ptr<const DecodedGroup>>& dropped);

  ParquetFiles* const files_;
  const int64_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable decoded_;
  Entries entries_;  // the latest first
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_PARQUET_ROW_GROUP_CACHE_H_
