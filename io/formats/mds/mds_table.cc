#include "io/formats/mds/mds_table.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/row_id.h"
#include "io/formats/mds/shard_hash.h"

namespace headrace {
namespace {

absl::Status InShard(absl::Status error, std::string_view path) {
  AddErrorField(error, ErrorField::kFile, path);
  return error;
}

absl::StatusOr<bool> Exists(const FileSystem& files, const std::string& path, int64_t& size) {
  const absl::StatusOr<FileStat> stat = files.Stat(path);
  if (!stat.ok() && KindOf(stat.status()) == ErrorKind::kNotFound) return false;
  if (!stat.ok()) return stat.status();
  size = stat->size;
  return stat->type == EntryType::kFile;
}

// One of the two forms of the shard: the unpacked one, if it is there.
absl::StatusOr<MdsTable::Shard> FindShard(const FileSystem& files, const std::string& folder, const MdsShard& listed,
                                          const MdsFile*& form) {
  MdsTable::Shard shard;
  shard.samples = static_cast<uint64_t>(listed.samples);
  shard.raw_bytes = listed.raw.bytes;
  shard.path = JoinPath(folder, listed.raw.name);
  form = &listed.raw;
  HEADRACE_ASSIGN_OR_RETURN(const bool raw, Exists(files, shard.path, shard.size));
  if (raw) return shard;
  if (listed.packed.name.empty()) return MissingPathError(files, shard.path);
  shard.path = JoinPath(folder, listed.packed.name);
  form = &listed.packed;
  HEADRACE_ASSIGN_OR_RETURN(const bool packed, Exists(files, shard.path, shard.size));
  if (!packed) return MissingPathError(files, shard.path);
  HEADRACE_ASSIGN_OR_RETURN(shard.compression, CompressionOfMds(listed.packing));
  return shard;
}

absl::Status ReadOffsets(const FileSystem& files, MdsTable::Shard& shard) {
  const int64_t head_bytes = MdsHeadBytes(shard.samples);
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(shard.path));
  std::string head(static_cast<size_t>(head_bytes), '\0');
  const absl::Span<uint8_t> target(reinterpret_cast<uint8_t*>(head.data()), head.size());
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file->ReadAt(0, target));
  head.resize(static_cast<size_t>(got));
  HEADRACE_ASSIGN_OR_RETURN(shard.offsets, ParseMdsOffsets(head, shard.samples, shard.size));
  return absl::OkStatus();
}

absl::Status CheckShard(const FileSystem& files, MdsTable::Shard& shard, const MdsFile& form, bool verify) {
  if (shard.size != form.bytes) {
    return DataError("the shard has ", shard.size, " bytes, and the index says ", form.bytes,
                     "; copy it again, or make the index anew");
  }
  if (MdsHeadBytes(shard.samples) > shard.raw_bytes) {
    return DataError("the shard has ", shard.raw_bytes, " bytes when it is unpacked, too few for the ", shard.samples,
                     " samples that the index says");
  }
  if (verify) HEADRACE_RETURN_IF_ERROR(CheckShardHash(files, shard.path, form.hashes));
  return shard.compression == Compression::kNone ? ReadOffsets(files, shard) : absl::OkStatus();
}

}  // namespace

void MdsTable::Add(Shard shard) {
  shard.first = size();
  shards_.push_back(std::move(shard));
}

size_t MdsTable::ShardOf(uint64_t sample) const {
  const auto after = std::upper_bound(shards_.begin(), shards_.end(), sample,
                                      [](uint64_t wanted, const Shard& shard) { return wanted < shard.first; });
  return static_cast<size_t>(after - shards_.begin()) - 1;
}

uint64_t MdsTable::fingerprint() const {
  uint64_t hash = shards_.size();
  for (const Shard& shard : shards_) {
    hash = MixKey(MixKey(hash, shard.samples), static_cast<uint64_t>(shard.raw_bytes));
  }
  return hash;
}

absl::StatusOr<std::vector<uint32_t>> ParseMdsOffsets(std::string_view head, uint64_t samples, int64_t bytes) {
  const auto head_bytes = static_cast<size_t>(MdsHeadBytes(samples));
  if (head.size() < head_bytes) return DataError("the shard ends within the table of its samples");
  uint32_t count = 0;
  std::memcpy(&count, head.data(), sizeof(count));
  if (count != samples) return DataError("the shard has ", count, " samples, and the index says ", samples);
  std::vector<uint32_t> offsets(static_cast<size_t>(samples) + 1);
  std::memcpy(offsets.data(), head.data() + sizeof(count), offsets.size() * sizeof(uint32_t));
  for (size_t i = 0; i < offsets.size(); ++i) {
    const uint64_t least = i == 0 ? head_bytes : offsets[i - 1];
    if (offsets[i] < least || static_cast<int64_t>(offsets[i]) > bytes) {
      return DataError("byte ", 4 * (i + 1), ": the sample ", i, " is said to begin at byte ", offsets[i], ", and ",
                       least, " to ", bytes, " is possible: the shard is damaged");
    }
  }
  return offsets;
}

absl::StatusOr<MdsTable> MakeMdsTable(const FileSystem& files, const std::string& folder, bool verify) {
  HEADRACE_ASSIGN_OR_RETURN(MdsIndex index, ReadMdsIndex(files, folder));
  MdsTable table(std::move(index.columns));
  for (const MdsShard& listed : index.shards) {
    if (absl::Status stop = Interrupt::Check(); !stop.ok()) return stop;
    const MdsFile* form = nullptr;
    absl::StatusOr<MdsTable::Shard> shard = FindShard(files, folder, listed, form);
    if (!shard.ok()) return InShard(std::move(shard).status(), JoinPath(folder, form->name));
    absl::Status checked = CheckShard(files, *shard, *form, verify);
    if (!checked.ok()) return InShard(std::move(checked), shard->path);
    table.Add(*std::move(shard));
  }
  return table;
}

}  // namespace headrace
