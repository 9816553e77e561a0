// The bytes of an index, all numbers little-endian:
//   magic (8 bytes), version (u32), CRC-32C of the payload (u32), bytes of the payload (u64), payload:
//   the file: its size (u64), when it was changed (i64), checksum of bytes at the beginnings of items (u32);
//   bytes of the format's name (varint), name; bytes of what else was found (varint), these; number of parts (varint);
//   per part: number of items (varint), whether it has ends (u8);
//     without ends, per item: where it begins, from the begin before (varint); then the end of the last one, likewise;
//     with ends, per item: where it begins, from the end before (zigzag varint), and its length (varint).
// Every value is checked before use: spans lie within the file.
#include <utility>

#include "core/byte_pieces.h"
#include "core/error.h"
#include "core/varint.h"
#include "io/formats/item_index.h"
#include "io/records/crc32c.h"

namespace headrace {
namespace {

constexpr std::string_view kItemIndexMagic("\x89HRITEM\n", 8);
constexpr uint32_t kItemIndexVersion = 1;
constexpr size_t kMostParts = 8;

template <typename T>
void PutNumber(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void PutText(std::string& text, std::string_view value) {
  PutVarint(text, value.size());
  text.append(value);
}

uint64_t ZigzagOf(int64_t value) { return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63); }
int64_t FromZigzag(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1)); }

// Moves to `at + by`, which must be from `least` to `most`.
bool MoveTo(int64_t by, int64_t least, int64_t most, int64_t& at) {
  return !__builtin_add_overflow(at, by, &at) && at >= least && at <= most;
}

bool TakeFollowing(BytePieces& bytes, uint64_t items, int64_t size, ItemSpans& spans) {
  int64_t at = 0;
  for (uint64_t i = 0; i < items; ++i) {
    if (!MoveTo(static_cast<int64_t>(bytes.TakeVarint()), at, size, at) || !bytes.whole()) return false;
    spans.begins.push_back(at);
  }
  spans.end = at;
  return MoveTo(static_cast<int64_t>(bytes.TakeVarint()), at, size, spans.end) && bytes.whole();
}

bool TakeWithEnds(BytePieces& bytes, uint64_t items, int64_t size, ItemSpans& spans) {
  spans.ends.reserve(items);
  int64_t at = 0;
  for (uint64_t i = 0; i < items; ++i) {
    if (!MoveTo(FromZigzag(bytes.TakeVarint()), 0, size, at)) return false;
    spans.begins.push_back(at);
    if (!MoveTo(static_cast<int64_t>(bytes.TakeVarint()), at, size, at) || !bytes.whole()) return false;
    spans.ends.push_back(at);
  }
  return true;
}

// The spans of a part, in a file of `size` bytes; false: they are damaged.
bool TakeSpans(BytePieces& bytes, int64_t size, ItemSpans& spans) {
  const uint64_t items = bytes.TakeVarint();
  const auto has_ends = bytes.TakeNumber<uint8_t>();
  // An item takes at least a byte, and at least two with its end.
  if (has_ends > 1 || items > bytes.left() / (has_ends + 1)) return false;
  spans.begins.reserve(items);
  return has_ends == 1 ? TakeWithEnds(bytes, items, size, spans) : TakeFollowing(bytes, items, size, spans);
}

void PutSpans(std::string& text, const ItemSpans& spans) {
  PutVarint(text, spans.begins.size());
  text.push_back(spans.ends.empty() ? 0 : 1);
  int64_t at = 0;
  for (size_t i = 0; i < spans.begins.size(); ++i) {
    const int64_t moved = spans.begins[i] - at;
    at = spans.begins[i];
    if (spans.ends.empty()) {
      PutVarint(text, static_cast<uint64_t>(moved));
      continue;
    }
    PutVarint(text, ZigzagOf(moved));
    PutVarint(text, static_cast<uint64_t>(spans.ends[i] - at));
    at = spans.ends[i];
  }
  if (spans.ends.empty()) PutVarint(text, static_cast<uint64_t>(spans.end - at));
}

absl::Status DamagedIndex(std::string_view path, std::string_view how) {
  return DataError(path, " is a damaged index (", how, "): delete it, and it is made again");
}

// The payload, if head and checksum are right.
absl::StatusOr<std::string_view> CheckedItemIndex(std::string_view bytes, std::string_view path) {
  if (!IsItemIndex(bytes)) {
    return DataError(path, " is not an index that Headrace made: move it, or delete it");
  }
  BytePieces head(bytes.substr(kItemIndexMagic.size()));
  const auto version = head.TakeNumber<uint32_t>();
  const auto checksum = head.TakeNumber<uint32_t>();
  const auto payload_bytes = head.TakeNumber<uint64_t>();
  if (!head.whole()) return DamagedIndex(path, "its head is cut off");
  if (version != kItemIndexVersion) {
    return DataError(path, " is an index of version ", version, ", and this Headrace reads version ", kItemIndexVersion,
                     ": delete it, and it is made again");
  }
  const std::string_view payload = bytes.substr(bytes.size() - head.left());
  if (payload.size() != payload_bytes) {
    return DamagedIndex(path, Cat("it should have ", payload_bytes, " bytes after its head, but has ", payload.size()));
  }
  if (Crc32c(payload.data(), payload.size()) != checksum) return DamagedIndex(path, "its checksum does not match");
  return payload;
}

}  // namespace

bool IsItemIndex(std::string_view bytes) { return bytes.substr(0, kItemIndexMagic.size()) == kItemIndexMagic; }

std::string FormatItemIndex(std::string_view format, const IndexedFile& of, const ItemIndex& index) {
  std::string payload;
  PutNumber(payload, of.size);
  PutNumber(payload, of.changed_ns);
  PutNumber(payload, of.checksum);
  PutText(payload, format);
  PutText(payload, index.found);
  PutVarint(payload, index.parts.size());
  for (const ItemSpans& spans : index.parts) PutSpans(payload, spans);
  std::string bytes(kItemIndexMagic);
  PutNumber(bytes, kItemIndexVersion);
  PutNumber(bytes, Crc32c(payload.data(), payload.size()));
  PutNumber(bytes, uint64_t{payload.size()});
  bytes.append(payload);
  return bytes;
}

absl::StatusOr<ParsedItemIndex> ParseItemIndex(std::string_view bytes, std::string_view format, std::string_view path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::string_view payload, CheckedItemIndex(bytes, path));
  BytePieces rest(payload);
  ParsedItemIndex parsed;
  parsed.of.size = rest.TakeNumber<int64_t>();
  parsed.of.changed_ns = rest.TakeNumber<int64_t>();
  parsed.of.checksum = rest.TakeNumber<uint32_t>();
  if (parsed.of.size < 0) return DamagedIndex(path, "the size of its file is negative");
  const std::string_view made_for = rest.Take(rest.TakeVarint());
  if (!rest.whole()) return DamagedIndex(path, "the name of its format is cut off");
  if (made_for != format) {
    return DataError(path, " is an index of the format \"", made_for.substr(0, 64), "\", where one of \"", format,
                     "\" is expected: delete it, and it is made again");
  }
  parsed.index.found = rest.Take(rest.TakeVarint());
  const uint64_t parts = rest.TakeVarint();
  if (!rest.whole() || parts > kMostParts) return DamagedIndex(path, "its counts do not fit its length");
  for (uint64_t i = 0; i < parts; ++i) {
    if (!TakeSpans(rest, parsed.of.size, parsed.index.parts.emplace_back())) {
      return DamagedIndex(path, "its items do not lie within its file");
    }
  }
  if (rest.left() > 0) return DamagedIndex(path, "bytes follow its items");
  return parsed;
}

}  // namespace headrace
