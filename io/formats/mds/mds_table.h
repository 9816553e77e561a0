// `MdsTable` says where the samples of a folder of MDS shards are. It takes 4 bytes a sample of a shard that is not
// compressed, and none of others. Use it with MdsRows, which reads the samples.
// Threads: made by one thread; const afterwards, and readable from any.
#ifndef HEADRACE_IO_FORMATS_MDS_MDS_TABLE_H_
#define HEADRACE_IO_FORMATS_MDS_MDS_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/mds/mds_index.h"

namespace headrace {

class MdsTable {
 public:
  struct Shard {
    std::string path;
    int64_t size = 0;  // in bytes, when the table was made
    Compression compression = Compression::kNone;
    int64_t raw_bytes = 0;  // when it is unpacked
    uint64_t samples = 0;
    uint64_t first = 0;  // the number of its first sample
    // Where the samples begin, and where the last one ends; empty: the shard is compressed.
    std::vector<uint32_t> offsets = {};
  };

  explicit MdsTable(std::vector<MdsColumn> columns) : columns_(std::move(columns)) {}

  void Add(Shard shard);

  uint64_t size() const { return shards_.empty() ? 0 : shards_.back().first + shards_.back().samples; }
  uint64_t fingerprint() const;
  const std::vector<MdsColumn>& columns() const { return columns_; }
  const std::vector<Shard>& shards() const { return shards_; }
  // The number of the shard that has the sample.
  size_t ShardOf(uint64_t sample) const;

 private:
  std::vector<MdsColumn> columns_;
  std::vector<Shard> shards_;
};

// Of a folder with an index.json. `verify`: the hashes that the index has are compared with the files, which are read
// for it. kNotFound, naming a shard that is missing; kData, naming one of another size, hash or number of samples.
absl::StatusOr<MdsTable> MakeMdsTable(const FileSystem& files, const std::string& folder, bool verify);

// How many bytes at a shard's beginning say where its samples are.
inline int64_t MdsHeadBytes(uint64_t samples) { return 4 * (static_cast<int64_t>(samples) + 2); }
// Of these bytes; `bytes`: of the whole shard. kData: damage, or another number of samples.
absl::StatusOr<std::vector<uint32_t>> ParseMdsOffsets(std::string_view head, uint64_t samples, int64_t bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MDS_MDS_TABLE_H_
