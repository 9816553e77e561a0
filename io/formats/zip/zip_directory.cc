#include "io/formats/zip/zip_directory.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_set>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/number_at.h"
#include "core/seeded_hash.h"
#include "io/files/file_bytes.h"

namespace headrace {
namespace {

constexpr int64_t kEndBytes = 22;
constexpr int64_t kMostComment = 65535;
constexpr std::string_view kEndMark("PK\5\6", 4);
constexpr int64_t kLocatorBytes = 20;
constexpr std::string_view kLocatorMark("PK\6\7", 4);
constexpr int64_t kEnd64Bytes = 56;
constexpr std::string_view kEnd64Mark("PK\6\6", 4);
constexpr size_t kEntryBytes = 46;
constexpr std::string_view kEntryMark("PK\1\2", 4);
constexpr int64_t kHeadBytes = 30;
constexpr std::string_view kHeadMark("PK\3\4", 4);
constexpr uint16_t kZip64Extra = 1;
constexpr uint64_t kIn64 = 0xFFFFFFFF;  // the number is in the extra field
constexpr int64_t kMostDirectory = int64_t{64} << 20;
// No more than this many bytes come out of one of deflate.
constexpr int64_t kMostInflation = 1032;
constexpr size_t kInflateBlock = size_t{256} << 10;

struct DirectoryPlace {
  uint64_t begin = 0;
  uint64_t bytes = 0;
  uint64_t members = 0;
};

// Of an archive that says so in a record in front of its end; `locator` says where.
absl::StatusOr<DirectoryPlace> FindDirectory64(const RandomAccessFile& file, int64_t size, std::string_view locator) {
  const auto at = NumberAt<uint64_t>(locator, 8);
  if (size < kEnd64Bytes || at > static_cast<uint64_t>(size - kEnd64Bytes)) {
    return DataError("the archive is damaged: its directory is said to end at byte ", at, " of ", size);
  }
  HEADRACE_ASSIGN_OR_RETURN(const std::string end, ReadFileBytes(file, static_cast<int64_t>(at), kEnd64Bytes));
  if (std::string_view(end).substr(0, 4) != kEnd64Mark) {
    return DataError("the archive is damaged: its directory does not end at byte ", at);
  }
  return DirectoryPlace{NumberAt<uint64_t>(end, 48), NumberAt<uint64_t>(end, 40), NumberAt<uint64_t>(end, 32)};
}

absl::StatusOr<DirectoryPlace> FindDirectory(const RandomAccessFile& file, int64_t size) {
  const int64_t tail_bytes = std::min(size, kLocatorBytes + kEndBytes + kMostComment);
  HEADRACE_ASSIGN_OR_RETURN(const std::string text, ReadFileBytes(file, size - tail_bytes, tail_bytes));
  const std::string_view tail = text;
  size_t at = tail.rfind(kEndMark);
  while (at != std::string_view::npos &&
         (tail.size() - at < kEndBytes || at + kEndBytes + NumberAt<uint16_t>(tail, at + 20) != tail.size())) {
    at = at == 0 ? std::string_view::npos : tail.rfind(kEndMark, at - 1);
  }
  if (at == std::string_view::npos) {
    return DataError("it is not a zip archive, or was cut off: it has no directory at its end");
  }
  const bool located = at >= kLocatorBytes && tail.substr(at - kLocatorBytes, 4) == kLocatorMark;
  if (located) return FindDirectory64(file, size, tail.substr(at - kLocatorBytes, kLocatorBytes));
  return DirectoryPlace{NumberAt<uint32_t>(tail, at + 16), NumberAt<uint32_t>(tail, at + 12),
                        NumberAt<uint16_t>(tail, at + 10)};
}

// Puts in what a Zip64 member's extra field says; false: it lacks it.
bool TakeZip64(std::string_view extra, ZipMember& member, uint64_t& packed, uint64_t& bytes, uint64_t& head) {
  const bool wanted = packed == kIn64 || bytes == kIn64 || head == kIn64;
  while (wanted && extra.size() >= 4) {
    const size_t length = NumberAt<uint16_t>(extra, 2);
    std::string_view field = extra.substr(4, length);
    if (field.size() < length) return false;
    if (NumberAt<uint16_t>(extra, 0) == kZip64Extra) {
      for (uint64_t* const number : {&bytes, &packed, &head}) {
        if (*number != kIn64) continue;
        if (field.size() < 8) return false;
        *number = NumberAt<uint64_t>(field, 0);
        field.remove_prefix(8);
      }
      break;
    }
    extra.remove_prefix(4 + length);
  }
  constexpr auto kMost = static_cast<uint64_t>(INT64_MAX);
  if (packed > kMost || bytes > kMost || head > kMost) return false;
  member.packed_bytes = static_cast<int64_t>(packed);
  member.bytes = static_cast<int64_t>(bytes);
  member.head = static_cast<int64_t>(head);
  return true;
}

// Takes an entry off the directory; false: it is damaged.
bool TakeEntry(std::string_view& directory, ZipMember& member) {
  if (directory.size() < kEntryBytes || directory.substr(0, 4) != kEntryMark) return false;
  const size_t name = NumberAt<uint16_t>(directory, 28);
  const size_t extra = NumberAt<uint16_t>(directory, 30);
  const size_t comment = NumberAt<uint16_t>(directory, 32);
  if (directory.size() - kEntryBytes < name + extra + comment) return false;
  member.encrypted = (NumberAt<uint16_t>(directory, 8) & 1) != 0;
  member.method = NumberAt<uint16_t>(directory, 10);
  member.checksum = NumberAt<uint32_t>(directory, 16);
  uint64_t packed = NumberAt<uint32_t>(directory, 20);
  uint64_t bytes = NumberAt<uint32_t>(directory, 24);
  uint64_t head = NumberAt<uint32_t>(directory, 42);
  member.name = directory.substr(kEntryBytes, name);
  if (!TakeZip64(directory.substr(kEntryBytes + name, extra), member, packed, bytes, head)) return false;
  directory.remove_prefix(kEntryBytes + name + extra + comment);
  return true;
}

class Inflation {
 public:
  Inflation() { good_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK; }
  ~Inflation() {
    if (good_) inflateEnd(&stream_);
  }
  Inflation(const Inflation&) = delete;

  bool good() const { return good_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_ = {};
  bool good_;
};

// Goes on with what was read; false: damage, or more than the target holds.
bool InflateSome(z_stream& stream, uint8_t* target, int64_t bytes, int64_t& made, bool& ended) {
  while (!ended) {
    const int64_t room = std::min<int64_t>(bytes - made, int64_t{1} << 30);
    uint8_t over = 0;
    stream.next_out = room > 0 ? target + made : &over;
    const auto given = static_cast<uInt>(std::max<int64_t>(room, 1));
    stream.avail_out = given;
    const int result = inflate(&stream, Z_NO_FLUSH);
    const uInt got = given - stream.avail_out;
    if (room == 0 && got > 0) return false;
    made += got;
    ended = result == Z_STREAM_END;
    if (result == Z_BUF_ERROR) return true;
    if (result != Z_OK && result != Z_STREAM_END) return false;
    if (stream.avail_in == 0 && stream.avail_out > 0) return true;
  }
  return true;
}

absl::Status DamagedMember(const ZipMember& member, std::string_view why) {
  return DataError("the member ", member.name, " is damaged: ", why);
}

absl::Status CheckSum(const ZipMember& member, const uint8_t* bytes) {
  uLong checksum = crc32(0, nullptr, 0);
  for (int64_t at = 0; at < member.bytes; at += int64_t{1} << 30) {
    checksum = crc32(checksum, bytes + at, static_cast<uInt>(std::min(member.bytes - at, int64_t{1} << 30)));
  }
  return checksum == member.checksum ? absl::OkStatus() : DamagedMember(member, "its checksum is wrong");
}

}  // namespace

absl::StatusOr<std::vector<ZipMember>> ReadZipDirectory(const RandomAccessFile& file, int64_t size) {
  HEADRACE_ASSIGN_OR_RETURN(const DirectoryPlace place, FindDirectory(file, size));
  const auto whole = static_cast<uint64_t>(size);
  if (place.begin > whole || place.bytes > whole - place.begin || place.bytes > kMostDirectory) {
    return DataError("the archive is damaged: its directory of ", place.bytes, " bytes begins at byte ", place.begin,
                     " of ", size);
  }
  const auto begin = static_cast<int64_t>(place.begin);
  HEADRACE_ASSIGN_OR_RETURN(const std::string text, ReadFileBytes(file, begin, static_cast<int64_t>(place.bytes)));
  std::string_view directory = text;
  std::vector<ZipMember> members;
  std::unordered_set<std::string, SeededHash> names;
  for (uint64_t i = 0; i < place.members; ++i) {
    ZipMember member;
    const int64_t at = begin + static_cast<int64_t>(text.size() - directory.size());
    if (!TakeEntry(directory, member)) {
      return DataError("byte ", at, ": the directory of the archive is damaged there, at member ", i);
    }
    if (!names.insert(member.name).second) return DataError("the archive has two members ", member.name);
    members.push_back(std::move(member));
  }
  return members;
}

absl::StatusOr<int64_t> BeginOfMember(const RandomAccessFile& file, int64_t size, const ZipMember& member) {
  if (member.head > size - kHeadBytes)
    return DamagedMember(member, Cat("it begins at byte ", member.head, " of ", size));
  HEADRACE_ASSIGN_OR_RETURN(const std::string head, ReadFileBytes(file, member.head, kHeadBytes));
  if (std::string_view(head).substr(0, 4) != kHeadMark) {
    return DamagedMember(member, Cat("it does not begin at byte ", member.head));
  }
  const int64_t begin = member.head + kHeadBytes + NumberAt<uint16_t>(head, 26) + NumberAt<uint16_t>(head, 28);
  if (begin > size || member.packed_bytes > size - begin) {
    return DamagedMember(member, Cat("its ", member.packed_bytes, " bytes begin at byte ", begin, " of ", size));
  }
  return begin;
}

absl::StatusOr<BufferRef> InflateMember(const RandomAccessFile& file, int64_t begin, const ZipMember& member) {
  if (member.bytes / kMostInflation > member.packed_bytes) {
    return DamagedMember(member, Cat("it claims ", member.bytes, " bytes, and has ", member.packed_bytes));
  }
  BufferRef unpacked = BufferPool::Global().Allocate(static_cast<size_t>(member.bytes));
  if (!unpacked) return ResourceError("no memory for ", member.bytes, " bytes of the member ", member.name);
  Inflation inflation;
  if (!inflation.good()) return ResourceError("no memory to inflate the member ", member.name);
  int64_t made = 0;
  bool ended = false;
  for (int64_t at = 0; at < member.packed_bytes && !ended;) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    const int64_t bytes = std::min<int64_t>(member.packed_bytes - at, kInflateBlock);
    HEADRACE_ASSIGN_OR_RETURN(std::string block, ReadFileBytes(file, begin + at, bytes));
    z_stream& stream = inflation.stream();
    stream.next_in = reinterpret_cast<Bytef*>(block.data());
    stream.avail_in = static_cast<uInt>(block.size());
    if (!InflateSome(stream, unpacked->data(), member.bytes, made, ended)) {
      return DamagedMember(member, Cat("what is at byte ", begin + at, " or after it cannot be inflated"));
    }
    at += bytes;
  }
  if (!ended || made != member.bytes) {
    return DamagedMember(member, Cat("it has ", made, " bytes, and should have ", member.bytes));
  }
  HEADRACE_RETURN_IF_ERROR(CheckSum(member, unpacked->data()));
  return unpacked;
}

absl::StatusOr<BufferRef> ReadMember(const RandomAccessFile& file, int64_t size, const ZipMember& member) {
  if (member.encrypted || (member.method != ZipMember::kStored && member.method != ZipMember::kDeflated)) {
    return UnsupportedError("the member ", member.name, " is encrypted, or packed otherwise than by deflate");
  }
  HEADRACE_ASSIGN_OR_RETURN(const int64_t begin, BeginOfMember(file, size, member));
  if (member.method == ZipMember::kDeflated) return InflateMember(file, begin, member);
  if (member.bytes != member.packed_bytes) {
    return DamagedMember(member, Cat("it has ", member.packed_bytes, " bytes, and should have ", member.bytes));
  }
  BufferRef bytes = BufferPool::Global().Allocate(static_cast<size_t>(member.bytes));
  if (!bytes) return ResourceError("no memory for ", member.bytes, " bytes of the member ", member.name);
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file.ReadAt(begin, {bytes->data(), static_cast<size_t>(member.bytes)}));
  if (got != member.bytes) return DataError("the file was cut off while it was read, at byte ", begin + got);
  HEADRACE_RETURN_IF_ERROR(CheckSum(member, bytes->data()));
  return bytes;
}

absl::StatusOr<std::string> InflateStart(const RandomAccessFile& file, int64_t begin, const ZipMember& member,
                                         int64_t bytes) {
  std::string text(static_cast<size_t>(std::min(bytes, member.bytes)), '\0');
  Inflation inflation;
  if (!inflation.good()) return ResourceError("no memory to inflate the member ", member.name);
  int64_t made = 0;
  const auto wanted = static_cast<int64_t>(text.size());
  bool ended = false;
  for (int64_t at = 0; at < member.packed_bytes && !ended && made < wanted;) {
    const int64_t some = std::min<int64_t>(member.packed_bytes - at, kInflateBlock);
    HEADRACE_ASSIGN_OR_RETURN(std::string block, ReadFileBytes(file, begin + at, some));
    z_stream& stream = inflation.stream();
    stream.next_in = reinterpret_cast<Bytef*>(block.data());
    stream.avail_in = static_cast<uInt>(block.size());
    const bool good = InflateSome(stream, reinterpret_cast<uint8_t*>(text.data()), wanted, made, ended);
    if (!good && made < wanted) {
      return DamagedMember(member, Cat("what is at byte ", begin + at, " or after it cannot be inflated"));
    }
    at += some;
  }
  text.resize(static_cast<size_t>(made));
  return text;
}

}  // namespace headrace
