#include "io/formats/mds/mds_rows.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/row_id.h"

namespace headrace {
namespace {

// Bytes between two samples that are read along. Few: a rank reads its own rows.
constexpr int64_t kMostBetweenSamples = 64;

}  // namespace

MdsRows::MdsRows(const FileSystem* files, std::shared_ptr<const MdsTable> table, int64_t most_unpacked)
    : table_(std::move(table)), reads_(files, table_->shards(), kMostBetweenSamples), unpacked_(files, most_unpacked) {}

RandomAccessReader::Location MdsRows::LocationOf(uint64_t sample) const {
  const size_t number = table_->ShardOf(sample);
  const MdsTable::Shard& shard = table_->shards()[number];
  const uint64_t within = sample - shard.first;
  const int64_t offset = shard.offsets.empty() ? -1 : shard.offsets[within];
  return {number, static_cast<int64_t>(within), offset};
}

JoinedReads::Piece MdsRows::PieceOf(uint64_t sample) const {
  const size_t number = table_->ShardOf(sample);
  const MdsTable::Shard& shard = table_->shards()[number];
  const uint64_t within = sample - shard.first;
  return {number, shard.offsets[within], shard.offsets[within + 1]};
}

// Those of compressed shards are read with their shard.
void MdsRows::Start(absl::Span<const uint64_t> samples) const {
  std::vector<uint64_t> raw;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(raw),
               [this](uint64_t sample) { return !Packed(sample); });
  reads_.Start(raw, [this](uint64_t sample) { return PieceOf(sample); });
}

size_t MdsRows::ReadRaw(absl::Span<const uint64_t> samples, absl::Span<Content> contents, absl::Status& wrong) const {
  const auto piece_of = [this](uint64_t sample) { return PieceOf(sample); };
  const auto cut = [&](uint64_t sample, const JoinedReads::OpenFile& opened, absl::Span<uint8_t> bytes,
                       Content& content) {
    const JoinedReads::Piece piece = piece_of(sample);
    return JoinedReads::CutWhole(piece, "sample", opened, table_->shards()[piece.file].size, bytes, content);
  };
  return reads_.Read(*this, samples, contents, piece_of, cut, wrong);
}

absl::Status MdsRows::TakeUnpacked(uint64_t sample, Content& content) const {
  const size_t number = table_->ShardOf(sample);
  const MdsTable::Shard& listed = table_->shards()[number];
  const uint64_t within = sample - listed.first;
  absl::StatusOr<std::shared_ptr<const UnpackedShards::Shard>> shard = unpacked_.Get(number, listed);
  if (!shard.ok()) {
    absl::Status error = std::move(shard).status();
    AddErrorField(error, ErrorField::kFile, DescribeProvenance({Path(number), static_cast<int64_t>(within), -1}));
    return error;
  }
  content.buffer = (*shard)->buffer;
  const size_t begin = (*shard)->offsets[within];
  content.bytes = {reinterpret_cast<const char*>(content.buffer->data()) + begin,
                   (*shard)->offsets[within + 1] - begin};
  return absl::OkStatus();
}

size_t MdsRows::Read(absl::Span<const uint64_t> samples, absl::Span<Content> contents, absl::Status& wrong) const {
  const auto packed = [this](uint64_t sample) { return Packed(sample); };
  size_t done = 0;
  while (done < samples.size()) {
    if (packed(samples[done])) {
      wrong = TakeUnpacked(samples[done], contents[done]);
      if (!wrong.ok()) return done;
      ++done;
      continue;
    }
    size_t count = 1;
    while (done + count < samples.size() && !packed(samples[done + count])) ++count;
    const size_t read = ReadRaw(samples.subspan(done, count), contents.subspan(done, count), wrong);
    done += read;
    if (read < count) return done;
  }
  return done;
}

}  // namespace headrace
