#include "io/files/object_cache/part_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "io/records/crc32c.h"

namespace headrace::object_cache {
namespace {

constexpr uint64_t kPartMagic = 0x31747261706a6f48;  // "Hojpart1"

// Little-endian; the key's text and the checksums of the blocks follow.
struct PartHead {
  uint64_t magic = kPartMagic;
  uint32_t nothing = 0;
  uint32_t own_checksum = 0;  // of all that follows, up to the part's bytes
  int64_t bytes = 0;          // of the part
  uint64_t key_bytes = 0;
};
static_assert(sizeof(PartHead) == 32);
constexpr size_t kChecked = offsetof(PartHead, bytes);

int64_t BlocksOf(int64_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes; }

int64_t HeadBytes(const PartKey& key) {
  return static_cast<int64_t>(sizeof(PartHead) + key.text.size()) +
         BlocksOf(key.bytes) * static_cast<int64_t>(sizeof(uint32_t));
}

bool FillFrom(const RandomAccessFile& file, int64_t offset, absl::Span<uint8_t> target) {
  const absl::StatusOr<int64_t> read = file.ReadAt(offset, target);
  return read.ok() && *read == static_cast<int64_t>(target.size());
}

}  // namespace

int64_t PartFileBytes(const PartKey& key) { return HeadBytes(key) + key.bytes; }

std::string PartFileHead(const PartKey& key, absl::Span<const uint8_t> bytes) {
  PartHead head;
  head.bytes = key.bytes;
  head.key_bytes = key.text.size();
  std::string text(sizeof(head), '\0');
  text += key.text;
  for (size_t at = 0; at < bytes.size(); at += kBlockBytes) {
    const absl::Span<const uint8_t> block = bytes.subspan(at, kBlockBytes);
    const uint32_t checksum = Crc32c(block.data(), block.size());
    text.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  }
  std::memcpy(text.data(), &head, sizeof(head));
  head.own_checksum = Crc32c(text.data() + kChecked, text.size() - kChecked);
  std::memcpy(text.data(), &head, sizeof(head));
  return text;
}

std::optional<PartFile> PartFile::Begin(std::shared_ptr<const RandomAccessFile> file, const PartKey& key) {
  const int64_t begin = HeadBytes(key);
  std::vector<uint8_t> bytes(static_cast<size_t>(begin));
  if (!FillFrom(*file, 0, absl::MakeSpan(bytes))) return std::nullopt;
  PartHead head;
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (head.magic != kPartMagic || head.bytes != key.bytes || head.key_bytes != key.text.size()) return std::nullopt;
  if (head.own_checksum != Crc32c(bytes.data() + kChecked, bytes.size() - kChecked)) return std::nullopt;
  if (std::memcmp(bytes.data() + sizeof(head), key.text.data(), key.text.size()) != 0) return std::nullopt;
  PartFile part(std::move(file), begin, key.bytes);
  part.checksums_.resize(static_cast<size_t>(BlocksOf(key.bytes)));
  if (!part.checksums_.empty()) {
    std::memcpy(part.checksums_.data(), bytes.data() + sizeof(head) + key.text.size(),
                part.checksums_.size() * sizeof(uint32_t));
  }
  return part;
}

int64_t PartFile::BytesOfBlock(int64_t block) const { return std::min(kBlockBytes, bytes_ - block * kBlockBytes); }

bool PartFile::ReadBlocks(int64_t block, absl::Span<uint8_t> target) const {
  if (!FillFrom(*file_, begin_ + block * kBlockBytes, target)) return false;
  while (!target.empty()) {
    const auto bytes = static_cast<size_t>(BytesOfBlock(block));
    if (Crc32c(target.data(), bytes) != checksums_[static_cast<size_t>(block)]) return false;
    target.remove_prefix(bytes);
    ++block;
  }
  return true;
}

bool PartFile::Read(int64_t offset, absl::Span<uint8_t> target) const {
  if (offset < 0 || offset > bytes_ || static_cast<int64_t>(target.size()) > bytes_ - offset) return false;
  std::vector<uint8_t> edge;
  while (!target.empty()) {
    const int64_t block = offset / kBlockBytes;
    const int64_t skipped = offset - block * kBlockBytes;
    auto read = static_cast<int64_t>(target.size());
    if (skipped == 0 && (read >= kBlockBytes || offset + read == bytes_)) {
      // All whole blocks at once, straight to where they go.
      if (offset + read < bytes_) read -= read % kBlockBytes;
      if (!ReadBlocks(block, target.first(static_cast<size_t>(read)))) return false;
    } else {
      edge.resize(static_cast<size_t>(BytesOfBlock(block)));
      if (!ReadBlocks(block, absl::MakeSpan(edge))) return false;
      read = std::min(read, BytesOfBlock(block) - skipped);
      std::memcpy(target.data(), edge.data() + skipped, static_cast<size_t>(read));
    }
    offset += read;
    target.remove_prefix(static_cast<size_t>(read));
  }
  return true;
}

}  // namespace headrace::object_cache
