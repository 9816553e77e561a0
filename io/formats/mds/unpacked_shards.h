// `UnpackedShards` unpacks compressed MDS shards as their samples are read, and keeps those that were read last, up to
// a number of bytes.
// Threads: any thread; two that want one shard unpack it once.
#ifndef HEADRACE_IO_FORMATS_MDS_UNPACKED_SHARDS_H_
#define HEADRACE_IO_FORMATS_MDS_UNPACKED_SHARDS_H_

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/buffer.h"
#include "io/files/file_system.h"
#include "io/formats/mds/mds_table.h"

namespace headrace {

class UnpackedShards {
 public:
  // What they may have together; a shard that is larger alone is kept, too, until another one is read.
  static constexpr int64_t kMostKept = int64_t{256} << 20;

  struct Shard {
    BufferRef buffer = {};
    std::vector<uint32_t> offsets = {};
  };

  // `files` outlives it.
  explicit UnpackedShards(const FileSystem* files, int64_t most = kMostKept) : files_(files), most_(most) {}

  // kData, naming the file: it is damaged, or holds something else than the index says.
  absl::StatusOr<std::shared_ptr<const Shard>> Get(size_t number, const MdsTable::Shard& listed) const;

 private:
  struct Slot {
    size_t number = 0;
    int64_t bytes = 0;
    std::mutex mutex;  // held while it is unpacked
    std::shared_ptr<const Shard> shard;
  };

  std::shared_ptr<Slot> TakeSlot(size_t number, int64_t bytes) const;
  absl::StatusOr<std::shared_ptr<const Shard>> Unpack(const MdsTable::Shard& listed) const;

  const FileSystem* const files_;
  const int64_t most_;
  mutable std::mutex mutex_;
  mutable std::list<std::shared_ptr<Slot>> slots_;  // the one that was read last comes first
  mutable int64_t kept_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MDS_UNPACKED_SHARDS_H_
