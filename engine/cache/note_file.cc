#include "engine/cache/note_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

constexpr std::string_view kMagic = "HRNOTES1";
// An entry of the table: the key, the first byte and the length of a note.
constexpr uint64_t kEntryWords = 3;
constexpr uint64_t kEntryBytes = kEntryWords * sizeof(uint64_t);
// The end of the file: the table's byte, the number of its entries, and the magic text.
constexpr uint64_t kTailBytes = 24;
// Entries that are read at once.
constexpr uint64_t kNear = 64;
// The same, where all are read.
constexpr uint64_t kMany = 4096;

bool ReadWhole(const RandomAccessFile& file, uint64_t at, absl::Span<uint8_t> target) {
  const absl::StatusOr<int64_t> read = file.ReadAt(static_cast<int64_t>(at), target);
  return read.ok() && *read == static_cast<int64_t>(target.size());
}

uint64_t WordAt(const uint8_t* bytes, uint64_t number) {
  uint64_t word = 0;
  std::memcpy(&word, bytes + number * sizeof(word), sizeof(word));
  return word;
}

}  // namespace

absl::StatusOr<std::unique_ptr<const NoteFile>> NoteFile::Open(const FileSystem& files, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  const auto bytes = static_cast<uint64_t>(size);
  std::array<uint8_t, kTailBytes> tail;
  const bool ends = bytes >= kTailBytes && ReadWhole(*file, bytes - kTailBytes, absl::MakeSpan(tail)) &&
                    std::memcmp(tail.data() + 16, kMagic.data(), kMagic.size()) == 0;
  const uint64_t table = ends ? WordAt(tail.data(), 0) : 0;
  const uint64_t notes = ends ? WordAt(tail.data(), 1) : 0;
  const uint64_t before_tail = bytes - kTailBytes;
  if (!ends || table > before_tail || (before_tail - table) % kEntryBytes != 0 ||
      notes != (before_tail - table) / kEntryBytes) {
    absl::Status error = DataError(
        "is not a whole file of entry points; write it again with headrace index --entry-points, or delete it");
    AddErrorField(error, ErrorField::kFile, path);
    return error;
  }
  return std::unique_ptr<const NoteFile>(new NoteFile(files, path, table, notes));
}

bool NoteFile::Find(uint64_t key, size_t most, std::string& bytes) const {
  const absl::StatusOr<std::shared_ptr<const RandomAccessFile>> file = files_.Open(path_);
  if (!file.ok()) return false;
  // Among entries begin to end - 1.
  uint64_t begin = 0;
  uint64_t end = notes_;
  while (end - begin > kNear) {
    const uint64_t middle = begin + (end - begin) / 2;
    std::array<uint8_t, sizeof(uint64_t)> read;
    if (!ReadWhole(**file, table_ + middle * kEntryBytes, absl::MakeSpan(read))) return false;
    (WordAt(read.data(), 0) <= key ? begin : end) = middle;
  }
  std::array<uint8_t, kNear * kEntryBytes> near;
  if (!ReadWhole(**file, table_ + begin * kEntryBytes, {near.data(), (end - begin) * kEntryBytes})) return false;
  for (uint64_t i = 0; i < end - begin; ++i) {
    if (WordAt(near.data(), i * kEntryWords) != key) continue;
    const uint64_t at = WordAt(near.data(), i * kEntryWords + 1);
    const uint64_t length = WordAt(near.data(), i * kEntryWords + 2);
    if (at > table_ || length > table_ - at || length > most) return false;
    bytes.resize(length);
    return ReadWhole(**file, at, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()});
  }
  return false;
}

void NoteFile::ForEachKey(const std::function<void(uint64_t key)>& take) const {
  const absl::StatusOr<std::shared_ptr<const RandomAccessFile>> file = files_.Open(path_);
  if (!file.ok()) return;
  std::vector<uint8_t> entries(std::min(notes_, kMany) * kEntryBytes);
  for (uint64_t first = 0; first < notes_; first += kMany) {
    const uint64_t count = std::min(notes_ - first, kMany);
    if (!ReadWhole(**file, table_ + first * kEntryBytes, {entries.data(), count * kEntryBytes})) return;
    for (uint64_t i = 0; i < count; ++i) take(WordAt(entries.data(), i * kEntryWords));
  }
}

}  // namespace headrace
