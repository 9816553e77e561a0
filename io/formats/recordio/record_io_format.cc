#include "io/formats/recordio/record_io_format.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/formats/framed_reader.h"
#include "io/formats/recordio/frame_chains.h"
#include "io/formats/recordio/record_frame.h"

namespace headrace {
namespace {

// Belongs to one reader: it remembers where damaged records led.
class RecordIoFraming : public Framing {
 public:
  explicit RecordIoFraming(OnDamage on_damage) : skips_(on_damage == OnDamage::kSkip) {}

  int64_t looks_behind() const override { return 0; }
  First FindFirst(absl::Span<const uint8_t> bytes, int64_t offset, bool last) const override;
  absl::StatusOr<Piece> Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                            std::vector<Record>& records) const override;
  absl::Status CheckReach(absl::Span<const uint8_t> bytes, int64_t offset,
                          const RandomAccessFile& file) const override {
    return CheckRecordReach(bytes, offset, file, chains());
  }

 private:
  FrameChains* chains() const { return skips_ ? &chains_ : nullptr; }

  const bool skips_;
  mutable FrameChains chains_;
};

Framing::First RecordIoFraming::FindFirst(absl::Span<const uint8_t> bytes, int64_t offset, bool last) const {
  const size_t at = FindRecordHead(bytes, offset, last);
  if (at < bytes.size()) return {true, at};
  if (last) return {false, bytes.size()};
  // A head may begin in the last bytes.
  return {false, bytes.size() - std::min(bytes.size(), RecordFrame::kHeadBytes - 1)};
}

absl::StatusOr<Framing::Piece> RecordIoFraming::Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                                                    std::vector<Record>& records) const {
  const size_t stop_at = static_cast<size_t>(std::min<int64_t>(stop - offset, static_cast<int64_t>(bytes.size())));
  size_t at = 0;
  while (at < stop_at) {
    const int64_t head = offset + static_cast<int64_t>(at);
    CutRecord record = CutPlainRecordAt(bytes.subspan(at));
    if (!record.whole) {
      const absl::StatusOr<CutRecord> found = CutRecordAt(bytes.subspan(at), head, last, chains());
      if (!found.ok() && at == 0) return found.status();
      if (!found.ok()) break;
      record = *found;
    }
    if (!record.whole) return Piece{at, at == 0 ? record.end : 0};
    records.push_back({head, static_cast<uint32_t>(at + record.begin), static_cast<uint32_t>(record.length)});
    at += record.end;
  }
  return Piece{at, 0};
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordReader>> RecordIoFormat::Open(const FileSystem& files, const std::string& path,
                                                                   const Split& split, int64_t from,
                                                                   size_t block_bytes) const {
  auto framing = std::make_unique<const RecordIoFraming>(on_damage_);
  const Framing* const of_reader = framing.get();
  return FramedReader::Open(of_reader, files, path, split, from, block_bytes, on_damage_, std::move(framing));
}

}  // namespace headrace
