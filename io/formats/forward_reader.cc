#include "io/formats/forward_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace headrace {

absl::Status ForwardReader::Next(RecordBlock& block) {
  block.records.clear();
  block.lost.clear();
  if (left_out_ > 0) HEADRACE_RETURN_IF_ERROR(LeaveOut());
  while (offset_ < split_.end) {
    if (end_ > begin_) HEADRACE_RETURN_IF_ERROR(Cut(block));
    if (!block.records.empty() || at_end_) return absl::OkStatus();
    HEADRACE_RETURN_IF_ERROR(ReadMore());
  }
  return absl::OkStatus();
}

absl::Status ForwardReader::LeaveOut() {
  if (!buffer_) buffer_ = BufferPool::Current().Allocate(block_bytes_);
  if (!buffer_) return ResourceError("no memory for ", block_bytes_, " bytes of a file");
  while (left_out_ > 0) {
    const auto bytes = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(block_bytes_), left_out_));
    HEADRACE_ASSIGN_OR_RETURN(const size_t got, stream_->Read(absl::MakeSpan(buffer_->data(), bytes)));
    if (got == 0) {
      return DataError("the file holds ", offset_ - left_out_, " bytes, and was to be read on from byte ", offset_,
                       ": it was cut off");
    }
    left_out_ -= static_cast<int64_t>(got);
  }
  return absl::OkStatus();
}

absl::Status ForwardReader::Cut(RecordBlock& block) {
  HEADRACE_ASSIGN_OR_RETURN(const Framing::Piece piece,
                            framing_->CutNext(bytes(), offset_, split_.end, at_end_, block.records));
  block.buffer = buffer_;
  block.bytes = buffer_->data() + begin_;
  begin_ += piece.used;
  offset_ += static_cast<int64_t>(piece.used);
  block.end = offset_;
  return absl::OkStatus();
}

// Reads at least as much again as it has, so that a long record is not copied over and over.
absl::Status ForwardReader::ReadMore() {
  HEADRACE_RETURN_IF_ERROR(failed_);
  const size_t held = end_ - begin_;
  const size_t bytes = held + std::max(held, block_bytes_);
  BufferRef larger = BufferPool::Current().Allocate(bytes + PendingRead::kSlack);
  if (!larger) return ResourceError("no memory for ", bytes, " bytes of a file");
  if (held > 0) std::memcpy(larger->data(), buffer_->data() + begin_, held);
  buffer_ = std::move(larger);
  begin_ = 0;
  end_ = held;
  return Fill(bytes);
}

absl::Status ForwardReader::Fill(size_t bytes) {
  const size_t held = end_;
  while (end_ < bytes && !at_end_) {
    const absl::StatusOr<size_t> got = stream_->Read(absl::MakeSpan(buffer_->data() + end_, bytes - end_));
    if (!got.ok()) {
      if (end_ == held) return got.status();
      // A stream that was stopped goes on.
      if (KindOf(got.status()) != ErrorKind::kClosed) failed_ = got.status();
      return absl::OkStatus();
    }
    end_ += *got;
    at_end_ = *got == 0;
  }
  return absl::OkStatus();
}

}  // namespace headrace
