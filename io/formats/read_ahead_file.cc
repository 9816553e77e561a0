#include "io/formats/read_ahead_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "io/files/far_of.h"

namespace headrace {
namespace {

// A request waits for the network as long as some bytes take.
constexpr size_t kLeastFarBlock = size_t{4} << 20;

}  // namespace

ReadAheadFile::ReadAheadFile(std::shared_ptr<const RandomAccessFile> file, std::string path, int64_t size,
                             int64_t until, size_t block_bytes)
    : file_(std::move(file)),
      path_(std::move(path)),
      size_(size),
      until_(std::min(size, until)),
      block_bytes_(block_bytes) {}

absl::StatusOr<std::unique_ptr<ReadAheadFile>> ReadAheadFile::Open(const FileSystem& files, const std::string& path,
                                                                   int64_t from, int64_t until, size_t block_bytes) {
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  if (FarOf(files, path) != nullptr) block_bytes = std::max(block_bytes, kLeastFarBlock);
  std::unique_ptr<ReadAheadFile> opened(new ReadAheadFile(std::move(file), path, size, until, block_bytes));
  HEADRACE_RETURN_IF_ERROR(opened->Start(from, opened->blocks_[kCurrent]));
  return opened;
}

absl::Status ReadAheadFile::Start(int64_t begin, Block& block) const {
  block = Block();
  if (begin >= until_) return absl::OkStatus();
  const int64_t bytes = std::min(static_cast<int64_t>(block_bytes_), until_ - begin);
  HEADRACE_ASSIGN_OR_RETURN(block.read, PendingRead::Start(file_, begin, 0, static_cast<size_t>(bytes)));
  block.begin = begin;
  block.end = begin + bytes;
  return absl::OkStatus();
}

absl::StatusOr<ReadAheadFile::Block*> ReadAheadFile::Find(int64_t byte) {
  // Begins a block where a range after the last one is in none, as after a jump.
  const bool goes_on = byte == last_end_ && byte < until_;
  const auto has = [byte](const Block& block) { return block.Has(byte); };
  if (goes_on && std::none_of(blocks_.begin(), blocks_.end(), has)) {
    blocks_ = {};
    HEADRACE_RETURN_IF_ERROR(Start(byte, blocks_[kCurrent]));
  }
  if (blocks_[kNext].Has(byte)) {
    blocks_[kBefore] = std::move(blocks_[kCurrent]);
    blocks_[kCurrent] = std::exchange(blocks_[kNext], {});
  }
  Block& current = blocks_[kCurrent];
  if (current.Has(byte)) {
    if (blocks_[kNext].read == nullptr) HEADRACE_RETURN_IF_ERROR(Start(current.end, blocks_[kNext]));
    return &current;
  }
  return blocks_[kBefore].Has(byte) ? &blocks_[kBefore] : nullptr;
}

absl::Status ReadAheadFile::CutOff() const {
  return DataError(path_, " had ", size_, " bytes when it was opened, and is shorter now: it was cut off");
}

absl::Status ReadAheadFile::Copy(const Block& block, int64_t offset, size_t bytes, uint8_t* target) const {
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, block.read->Wait());
  if (got < block.end - block.begin) return CutOff();
  std::memcpy(target, block.read->buffer()->data() + (offset - block.begin), bytes);
  return absl::OkStatus();
}

absl::Status ReadAheadFile::ReadNow(int64_t offset, size_t bytes, uint8_t* target) const {
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file_->ReadAt(offset, absl::MakeSpan(target, bytes)));
  return got < static_cast<int64_t>(bytes) ? CutOff() : absl::OkStatus();
}

absl::Status ReadAheadFile::Read(int64_t offset, uint64_t bytes, uint8_t* target) {
  if (offset > size_ || bytes > static_cast<uint64_t>(size_ - offset)) {
    return DataError("needs ", bytes, " bytes from byte ", offset, " on, and ", path_, " has ", size_, " bytes");
  }
  const int64_t end = offset + static_cast<int64_t>(bytes);
  while (offset < end) {
    HEADRACE_ASSIGN_OR_RETURN(const Block* const block, Find(offset));
    int64_t stop = block == nullptr ? end : std::min(end, block->end);
    for (const Block& each : blocks_) {
      if (block == nullptr && each.read != nullptr && each.begin > offset) stop = std::min(stop, each.begin);
    }
    const auto part = static_cast<size_t>(stop - offset);
    HEADRACE_RETURN_IF_ERROR(block == nullptr ? ReadNow(offset, part, target) : Copy(*block, offset, part, target));
    target += part;
    offset = last_end_ = stop;
  }
  return absl::OkStatus();
}

}  // namespace headrace
