#include "io/formats/tfrecord/tf_record_heads.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/formats/tfrecord/tf_record_frame.h"

namespace headrace {
namespace {

constexpr auto kTfRecordHead = static_cast<int64_t>(TfRecordFrame::kHeadBytes);
// Of records that are shorter, reading all bytes costs less than a read for each head.
constexpr int64_t kShortRecord = 4096;
constexpr int64_t kHeadsBlock = int64_t{64} << 10;

}  // namespace

absl::StatusOr<absl::Span<const uint8_t>> TfRecordHeads::BytesAt(int64_t offset) {
  const int64_t before = offset - last_;
  last_ = offset;
  const auto held = static_cast<int64_t>(block_.size());
  if (offset < block_at_ || offset + kTfRecordHead > block_at_ + held) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    const bool are_short = before > 0 && before < kShortRecord;
    block_.resize(static_cast<size_t>(std::min(are_short ? kHeadsBlock : kTfRecordHead, size_ - offset)));
    block_at_ = offset;
    HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file_->ReadAt(offset, absl::MakeSpan(block_)));
    block_.resize(static_cast<size_t>(got));
  }
  return absl::MakeConstSpan(block_).subspan(static_cast<size_t>(offset - block_at_));
}

absl::StatusOr<int64_t> TfRecordHeads::EndAt(int64_t offset) {
  if (size_ - offset < kTfRecordHead) return TfRecordCutOff(offset, size_);
  HEADRACE_ASSIGN_OR_RETURN(const absl::Span<const uint8_t> bytes, BytesAt(offset));
  if (bytes.size() < TfRecordFrame::kHeadBytes) {
    return TfRecordCutOff(offset, offset + static_cast<int64_t>(bytes.size()));
  }
  const std::optional<uint64_t> length = TfPayloadLength(bytes.data());
  if (!length.has_value()) return NotATfRecord(bytes, offset);
  if (*length > TfRecordFrame::kLongest) return TfRecordTooLong(*length, offset);
  const int64_t end = offset + static_cast<int64_t>(TfRecordFrame::kAroundBytes + *length);
  return end <= size_ ? absl::StatusOr<int64_t>(end) : TfRecordCutOff(offset, size_);
}

}  // namespace headrace
