#include "io/formats/tfrecord/tf_record_framing.h"

#include <algorithm>

#include "core/error.h"

namespace headrace {

// A record's head cannot be told from other bytes but by chance.
Framing::First TfRecordFraming::FindFirst(absl::Span<const uint8_t> bytes, int64_t /*offset*/, bool /*last*/) const {
  return {false, bytes.size()};
}

absl::Status TfRecordFraming::CutOff(int64_t offset, int64_t end) const {
  cut_off_ = end;
  return TfRecordCutOff(offset, end);
}

absl::StatusOr<Framing::Piece> TfRecordFraming::Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                                                    std::vector<Record>& records) const {
  const auto stop_at = static_cast<size_t>(std::min<int64_t>(stop - offset, static_cast<int64_t>(bytes.size())));
  size_t at = 0;
  while (at < stop_at) {
    const absl::Span<const uint8_t> rest = bytes.subspan(at);
    size_t end = TfRecordFrame::kHeadBytes;
    if (rest.size() >= end) {
      const std::optional<uint64_t> length = TfPayloadLength(rest.data());
      if (!length.has_value() || *length > longest_) {
        if (at > 0) break;
        return length.has_value() ? TfRecordTooLong(*length, offset, longest_) : NotATfRecord(rest, offset);
      }
      end = TfRecordFrame::kAroundBytes + static_cast<size_t>(*length);
    }
    if (end > rest.size()) {
      if (at > 0) break;
      if (last) return CutOff(offset, offset + static_cast<int64_t>(bytes.size()));
      return Piece{0, end};
    }
    records.push_back({offset + static_cast<int64_t>(at), static_cast<uint32_t>(at + TfRecordFrame::kHeadBytes),
                       static_cast<uint32_t>(end - TfRecordFrame::kAroundBytes)});
    at += end;
  }
  return Piece{at, 0};
}

absl::Status TfRecordFraming::CheckReach(absl::Span<const uint8_t> bytes, int64_t offset,
                                         const RandomAccessFile& file) const {
  if (bytes.size() < TfRecordFrame::kHeadBytes) return absl::OkStatus();
  const auto length = static_cast<int64_t>(TfPayloadLength(bytes.data()).value_or(0));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file.Size());
  const bool there = length + static_cast<int64_t>(TfRecordFrame::kAroundBytes) <= size - offset;
  return there ? absl::OkStatus() : CutOff(offset, size);
}

}  // namespace headrace
