#include "io/formats/framed_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/far_of.h"

namespace headrace {
namespace {

// Part of a block in front of what is read that a record begun in the block before may take.
constexpr size_t kRoomShare = 8;
// What is read beyond the end of a split for its last record.
constexpr int64_t kTail = 4096;
// Bytes whose records are cut at once: they stay in the nearest cache of a core while they are looked at again, and
// copied.
constexpr size_t kCutBytes = size_t{16} << 10;

}  // namespace

absl::StatusOr<Framing::Piece> Framing::CutNext(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                                                std::vector<Record>& records) const {
  if (bytes.size() > kCutBytes) {
    absl::StatusOr<Piece> piece = Cut(bytes.first(kCutBytes), offset, stop, false, records);
    if (!piece.ok() || !records.empty()) return piece;
  }
  return Cut(bytes, offset, stop, last, records);
}

FramedReader::FramedReader(const Framing* framing, std::shared_ptr<const RandomAccessFile> file, std::string path,
                           int64_t size, const Split& split, int64_t from, size_t block_bytes, OnDamage on_damage,
                           size_t most_ahead)
    : framing_(framing),
      file_(std::move(file)),
      path_(std::move(path)),
      size_(size),
      split_(split),
      block_bytes_(block_bytes),
      on_damage_(on_damage),
      most_ahead_(most_ahead),
      offset_(from),
      asked_(from),
      searching_(from == split.begin && from > 0) {
  if (searching_) offset_ = asked_ = std::max<int64_t>(0, from - framing->looks_behind());
}

absl::StatusOr<std::unique_ptr<FramedReader>> FramedReader::Open(const Framing* framing, const FileSystem& files,
                                                                 const std::string& path, const Split& split,
                                                                 int64_t from, size_t block_bytes, OnDamage on_damage,
                                                                 std::unique_ptr<const Framing> own) {
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  // A file that became shorter than it was listed has nothing in its last splits.
  if (from > size && from != split.begin) {
    return DataError(path, " has ", size, " bytes, and was to be read on from byte ", from, ": it was cut off");
  }
  const size_t most_ahead = FarOf(files, path) == nullptr ? 1 : size_t{kFarBlocksAhead};
  std::unique_ptr<FramedReader> reader(
      new FramedReader(framing, std::move(file), path, size, split, from, block_bytes, on_damage, most_ahead));
  reader->own_ = std::move(own);
  if (reader->asked_ >= size && from == split.begin && from > 0) {
    reader->searching_ = false;
    reader->at_end_ = true;
    return reader;
  }
  HEADRACE_RETURN_IF_ERROR(reader->StartRead());
  HEADRACE_RETURN_IF_ERROR(reader->ReadAhead());
  return reader;
}

absl::StatusOr<absl::Span<const uint8_t>> FramedReader::Peek(size_t least) {
  while (end_ - begin_ < least && !at_end_) HEADRACE_RETURN_IF_ERROR(ReadMore());
  if (end_ == begin_) return absl::Span<const uint8_t>();
  return absl::Span<const uint8_t>(bytes());
}

absl::Status FramedReader::Next(RecordBlock& block) {
  block.records.clear();
  block.lost.clear();
  while (true) {
    // After damage there may be no record for as long as the file is.
    if (StopSignal::Raised()) return StopSignal::Error();
    if (searching_ && end_ > begin_) Search(block);
    if (!searching_ && offset_ >= split_.end) return absl::OkStatus();
    if (!searching_ && end_ > begin_) {
      HEADRACE_RETURN_IF_ERROR(Cut(block));
      if (!block.records.empty()) return absl::OkStatus();
      if (losing_) continue;
    }
    if (at_end_) return absl::OkStatus();
    HEADRACE_RETURN_IF_ERROR(ReadMore());
  }
}

void FramedReader::Drop(size_t bytes) {
  begin_ += bytes;
  offset_ += static_cast<int64_t>(bytes);
}

absl::Status FramedReader::Cut(RecordBlock& block) {
  const absl::StatusOr<Framing::Piece> piece = framing_->CutNext(bytes(), offset_, split_.end, at_end_, block.records);
  absl::Status status = piece.status();
  if (status.ok() && piece->reach > block_bytes_) status = framing_->CheckReach(bytes(), offset_, *file_);
  if (!status.ok()) {
    const bool damaged = KindOf(status) == ErrorKind::kData && !IsBeyondRow(status);
    if (!damaged || on_damage_ == OnDamage::kFail) return status;
    Lose(status, block);
    return absl::OkStatus();
  }
  reach_ = piece->reach;
  block.buffer = buffer_;
  block.bytes = buffer_->data() + begin_;
  Drop(piece->used);
  block.end = offset_;
  return absl::OkStatus();
}

// Gives up the record at offset_; what follows is searched for the next one, beyond the end of the split if need be, so
// that each lost byte is told by the split in which the record began.
void FramedReader::Lose(const absl::Status& damage, RecordBlock& block) {
  const bool goes_on = !block.lost.empty() && block.lost.back().offset + block.lost.back().bytes == offset_;
  if (!goes_on) block.lost.push_back({offset_, 0, std::string(ToStd(damage.message()))});
  Drop(1);
  block.lost.back().bytes = offset_ - block.lost.back().offset;
  block.end = offset_;
  searching_ = true;
  losing_ = true;
}

void FramedReader::Search(RecordBlock& block) {
  const Framing::First first = framing_->FindFirst(bytes(), offset_, at_end_);
  Drop(first.at);
  searching_ = !first.found && (losing_ || offset_ < split_.end);
  if (!losing_) return;
  block.lost.back().bytes += static_cast<int64_t>(first.at);
  block.end = offset_;
  losing_ = searching_;
}

// Asks for one byte more than the file has, which shows its end, and whether it grew.
size_t FramedReader::BytesToAsk() const {
  const int64_t beyond = split_.end == Split::kFileEnd ? Split::kFileEnd : split_.end + kTail;
  const int64_t needed = offset_ + static_cast<int64_t>(reach_) - asked_;
  const int64_t wanted = std::max({beyond - asked_, kTail, needed});
  const int64_t there = std::max<int64_t>(0, size_ - asked_) + 1;
  return static_cast<size_t>(std::min({static_cast<int64_t>(block_bytes_), wanted, there}));
}

absl::Status FramedReader::StartRead() {
  const size_t bytes = BytesToAsk();
  BlockRead block{asked_, nullptr};
  HEADRACE_ASSIGN_OR_RETURN(block.read, PendingRead::Start(file_, asked_, block_bytes_ / kRoomShare, bytes));
  ahead_.push_back(std::move(block));
  asked_ += static_cast<int64_t>(bytes);
  return absl::OkStatus();
}

// The last read asks for a byte beyond the end, so no other one follows it.
absl::Status FramedReader::ReadAhead() {
  while (ahead_.size() < most_ahead_ && !at_end_ && asked_ < split_.end && asked_ <= size_) {
    HEADRACE_RETURN_IF_ERROR(StartRead());
  }
  return absl::OkStatus();
}

// Keeps asked_ at the byte after those that there are, once it is known where they end.
absl::Status FramedReader::Account(int64_t begin, size_t asked, int64_t got) {
  at_end_ = got < static_cast<int64_t>(asked);
  if (at_end_) asked_ = begin + got;
  const int64_t end = begin + got;
  if (end <= size_ && (!at_end_ || end == size_)) return absl::OkStatus();
  return SizeChangedError(path_, size_, end);
}

absl::Status FramedReader::ReadMore() {
  if (ahead_.empty()) HEADRACE_RETURN_IF_ERROR(StartRead());
  const auto [begin, read] = std::move(ahead_.front());
  ahead_.pop_front();
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, read->Wait());
  HEADRACE_RETURN_IF_ERROR(Account(begin, read->bytes(), got));
  const size_t held = end_ - begin_;
  if (held > read->room()) {
    HEADRACE_RETURN_IF_ERROR(Grow(*read, static_cast<size_t>(got)));
  } else {
    uint8_t* const data = read->buffer()->data() + read->room() - held;
    if (held > 0) std::memcpy(data, buffer_->data() + begin_, held);
    buffer_ = read->buffer();
    begin_ = read->room() - held;
    end_ = read->room() + static_cast<size_t>(got);
  }
  return ReadAhead();
}

// For a record that is longer than what there is room for: reads at least as much again as it has, so that long records
// are not copied over and over, and as much as the record is known to need.
absl::Status FramedReader::Grow(const PendingRead& read, size_t got) {
  const size_t held = end_ - begin_;
  const size_t wanted = std::max(held + got, reach_ - std::min(reach_, held + got));
  // What was asked for already comes with the next calls.
  const size_t more =
      at_end_ || !ahead_.empty() ? 0 : std::min(wanted, static_cast<size_t>(std::max<int64_t>(0, size_ - asked_) + 1));
  HEADRACE_RETURN_IF_ERROR(CheckHeld(path_, *file_, static_cast<int64_t>(held + got + more)));
  BufferRef grown = BufferPool::Current().Allocate(held + got + more + PendingRead::kSlack);
  if (!grown) return ResourceError("no memory for a record of more than ", held, " bytes");
  std::memcpy(grown->data(), buffer_->data() + begin_, held);
  std::memcpy(grown->data() + held, read.buffer()->data() + read.room(), got);
  buffer_ = std::move(grown);
  begin_ = 0;
  end_ = held + got;
  if (more == 0) return absl::OkStatus();
  HEADRACE_ASSIGN_OR_RETURN(const int64_t further, file_->ReadAt(asked_, absl::MakeSpan(buffer_->data() + end_, more)));
  const int64_t begin = std::exchange(asked_, asked_ + static_cast<int64_t>(more));
  end_ += static_cast<size_t>(further);
  return Account(begin, more, further);
}

}  // namespace headrace
