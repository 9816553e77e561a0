// `MdsRows` reads the samples of an MdsTable by number: those of a shard that is not compressed by their bytes, and
// those of a compressed one from the unpacked shard.
// Threads: as RandomAccessReader's.
#ifndef HEADRACE_IO_FORMATS_MDS_MDS_ROWS_H_
#define HEADRACE_IO_FORMATS_MDS_MDS_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/files/file_system.h"
#include "io/formats/joined_reads.h"
#include "io/formats/mds/mds_table.h"
#include "io/formats/mds/unpacked_shards.h"
#include "io/formats/random_access_reader.h"

namespace headrace {

class MdsRows : public RandomAccessReader {
 public:
  // `files` outlives it. `most_unpacked`: bytes of unpacked shards that are kept, which count in the budget of the task
  // that unpacked them.
  MdsRows(const FileSystem* files, std::shared_ptr<const MdsTable> table,
          int64_t most_unpacked = UnpackedShards::kMostKept);

  const MdsTable& table() const { return *table_; }
  uint64_t size() const override { return table_->size(); }
  // The offset of a sample in a compressed shard is not known: -1.
  Location LocationOf(uint64_t sample) const override;
  std::shared_ptr<const std::string> Path(uint64_t file) const override { return reads_.path(file); }
  size_t Read(absl::Span<const uint64_t> samples, absl::Span<Content> contents, absl::Status& wrong) const override;
  absl::Status CheckFiles() const override { return reads_.CheckFiles(); }
  int most_outstanding() const override { return reads_.most_outstanding(); }
  void Start(absl::Span<const uint64_t> samples) const override;

 private:
  bool Packed(uint64_t sample) const { return table_->shards()[table_->ShardOf(sample)].offsets.empty(); }
  JoinedReads::Piece PieceOf(uint64_t sample) const;
  size_t ReadRaw(absl::Span<const uint64_t> samples, absl::Span<Content> contents, absl::Status& wrong) const;
  absl::Status TakeUnpacked(uint64_t sample, Content& content) const;

  const std::shared_ptr<const MdsTable> table_;
  const JoinedReads reads_;
  const UnpackedShards unpacked_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MDS_MDS_ROWS_H_
