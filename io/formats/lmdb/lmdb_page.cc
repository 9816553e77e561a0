#include "io/formats/lmdb/lmdb_page.h"

#include <bit>

#include "core/error.h"
#include "core/number_at.h"

namespace headrace {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers of pages are little-endian");

constexpr uint32_t kLmdbMagic = 0xBEEFC0DE;
constexpr uint32_t kLmdbVersion = 1;
constexpr size_t kHead32 = 12;  // of the pages of a machine of 32 bits
constexpr int64_t kLeastPage = 256;
constexpr int64_t kMostPage = 65536;

constexpr uint16_t kBranch = 0x01;
constexpr uint16_t kLeaf = 0x02;
constexpr uint16_t kOverflow = 0x04;
constexpr uint16_t kLeafOfFixed = 0x20;
constexpr uint16_t kSubPage = 0x40;

constexpr uint16_t kBigEntry = 0x01;
constexpr uint16_t kTreeEntry = 0x02;
constexpr uint16_t kDuplicates = 0x04;

}  // namespace

LmdbTree LmdbTree::Of(std::string_view bytes) {
  return {NumberAt<uint16_t>(bytes, 4), NumberAt<uint16_t>(bytes, 6), NumberAt<uint64_t>(bytes, 32),
          NumberAt<uint64_t>(bytes, 40)};
}

absl::StatusOr<LmdbMeta> ParseLmdbMeta(std::string_view bytes) {
  if (bytes.size() < kLmdbMetaBytes) return DataError("it is not a file of LMDB (data.mdb), or was cut off");
  if (NumberAt<uint32_t>(bytes, kLmdbPageHead) != kLmdbMagic) {
    if (NumberAt<uint32_t>(bytes, kHead32) == kLmdbMagic) {
      return UnsupportedError(
          "the file was written on a machine of 32 bits; copy it there by mdb_dump, and load it here");
    }
    return DataError("it is not a file of LMDB (data.mdb)");
  }
  const std::string_view meta = bytes.substr(kLmdbPageHead);
  if (const auto version = NumberAt<uint32_t>(meta, 4); version != kLmdbVersion) {
    return UnsupportedError("the file is of version ", version, " of LMDB's format, and 1 is read; load it anew");
  }
  LmdbMeta read;
  // The tree of free pages has the size of a page where others have what they do not need.
  read.page_bytes = NumberAt<uint32_t>(meta, 24);
  if (read.page_bytes < kLeastPage || read.page_bytes > kMostPage ||
      !std::has_single_bit(static_cast<uint64_t>(read.page_bytes))) {
    return DataError("byte ", kLmdbPageHead + 24, ": the file is damaged: its pages have ", read.page_bytes, " bytes");
  }
  read.main = LmdbTree::Of(meta.substr(72, LmdbTree::kBytes));
  read.last_page = NumberAt<uint64_t>(meta, 120);
  read.transaction = NumberAt<uint64_t>(meta, 128);
  return read;
}

absl::StatusOr<LmdbPage> LmdbPage::Of(std::string_view bytes, uint64_t number) {
  const auto damaged = [&](std::string_view why) {
    return DataError("byte ", number * bytes.size(), ": the page ", number, " is damaged: ", why);
  };
  if (bytes.size() < kLmdbPageHead || NumberAt<uint64_t>(bytes, 0) != number) return damaged("it is another page");
  const auto flags = NumberAt<uint16_t>(bytes, 10);
  const bool leaf = (flags & kLeaf) != 0;
  if ((flags & (kLeafOfFixed | kSubPage | kOverflow)) != 0 || leaf == ((flags & kBranch) != 0)) {
    return damaged("it is neither a branch nor a leaf");
  }
  const size_t lower = NumberAt<uint16_t>(bytes, 12);
  if (lower < kLmdbPageHead || lower > bytes.size()) return damaged("its entries reach over its end");
  return LmdbPage(bytes, leaf, (lower - kLmdbPageHead) / sizeof(uint16_t));
}

std::optional<size_t> LmdbPage::At(size_t number) const {
  const size_t at = NumberAt<uint16_t>(bytes_, kLmdbPageHead + number * sizeof(uint16_t));
  if (at < kLmdbPageHead || at + LmdbEntry::kHead > bytes_.size()) return std::nullopt;
  return at;
}

std::optional<uint64_t> LmdbPage::Child(size_t number) const {
  const std::optional<size_t> at = At(number);
  if (!at.has_value()) return std::nullopt;
  return uint64_t{NumberAt<uint32_t>(bytes_, *at)} | uint64_t{NumberAt<uint16_t>(bytes_, *at + 4)} << 32;
}

std::optional<LmdbEntry> LmdbPage::Entry(size_t number) const {
  const std::optional<size_t> at = At(number);
  return at.has_value() ? EntryAt(bytes_, *at) : std::nullopt;
}

std::optional<LmdbEntry> LmdbPage::EntryAt(std::string_view page, size_t at) {
  if (at + LmdbEntry::kHead > page.size()) return std::nullopt;
  const auto flags = NumberAt<uint16_t>(page, at + 4);
  const size_t key_bytes = NumberAt<uint16_t>(page, at + 6);
  LmdbEntry entry;
  entry.at = at;
  entry.big = (flags & kBigEntry) != 0;
  entry.tree = (flags & kTreeEntry) != 0;
  entry.duplicates = (flags & kDuplicates) != 0;
  entry.value_bytes = NumberAt<uint32_t>(page, at);
  const size_t value_bytes = entry.big ? sizeof(uint64_t) : entry.value_bytes;
  const std::string_view rest = page.substr(at + LmdbEntry::kHead);
  if (key_bytes > rest.size() || value_bytes > rest.size() - key_bytes) return std::nullopt;
  entry.key = rest.substr(0, key_bytes);
  entry.value = rest.substr(key_bytes, value_bytes);
  return entry;
}

bool IsOverflowPage(std::string_view head, uint64_t number) {
  return head.size() >= kLmdbPageHead && NumberAt<uint64_t>(head, 0) == number &&
         (NumberAt<uint16_t>(head, 10) & kOverflow) != 0;
}

uint64_t OverflowPageOf(const LmdbEntry& entry) { return NumberAt<uint64_t>(entry.value, 0); }

}  // namespace headrace
