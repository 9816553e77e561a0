// `LmdbPage` reads a page of an LMDB file: the keys of a branch, which lead to other pages, or the entries of a leaf.
// `ParseLmdbMeta` reads the page that says where the trees begin. Numbers are little-endian, and page numbers have 64
// bits, as on the machines that this runs on.
// Threads: values and pure functions.
#ifndef HEADRACE_IO_FORMATS_LMDB_LMDB_PAGE_H_
#define HEADRACE_IO_FORMATS_LMDB_LMDB_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"

namespace headrace {

// A tree: the main one, or a named one within it.
struct LmdbTree {
  static constexpr uint16_t kSortsDuplicates = 0x04;
  static constexpr uint64_t kNoPage = ~uint64_t{0};
  static constexpr size_t kBytes = 48;

  uint16_t flags = 0;
  uint16_t depth = 0;
  uint64_t entries = 0;
  uint64_t root = kNoPage;

  // Of kBytes bytes.
  static LmdbTree Of(std::string_view bytes);
};

struct LmdbMeta {
  int64_t page_bytes = 0;
  uint64_t last_page = 0;
  uint64_t transaction = 0;  // the number of the last one that was committed
  LmdbTree main = {};

  friend bool operator==(const LmdbMeta& a, const LmdbMeta& b) {
    return a.transaction == b.transaction && a.main.root == b.main.root && a.page_bytes == b.page_bytes;
  }
};

// The first bytes of a page that a meta page has.
inline constexpr size_t kLmdbMetaBytes = 152;
inline constexpr size_t kLmdbPageHead = 16;

// Of these bytes of page 0, or of page 1. kData: they are not a meta page.
absl::StatusOr<LmdbMeta> ParseLmdbMeta(std::string_view bytes);

// An entry of a leaf.
struct LmdbEntry {
  static constexpr size_t kHead = 8;  // bytes in front of the key

  size_t at = 0;            // in the page, where its head begins
  bool big = false;         // its value is in pages of its own, and `value` says in which
  bool tree = false;        // its value is a named tree
  bool duplicates = false;  // it has several values
  uint32_t value_bytes = 0;
  std::string_view key = {};
  std::string_view value = {};
};

class LmdbPage {
 public:
  // A view of a whole page, whose number is `number`. kData: it is neither a branch nor a leaf, or damaged.
  static absl::StatusOr<LmdbPage> Of(std::string_view bytes, uint64_t number);

  bool leaf() const { return leaf_; }
  size_t size() const { return size_; }
  // The page that a key of a branch leads to; nullopt: damage.
  std::optional<uint64_t> Child(size_t number) const;
  // An entry of a leaf; nullopt: damage.
  std::optional<LmdbEntry> Entry(size_t number) const;
  // The entry whose head begins at that byte of the page.
  static std::optional<LmdbEntry> EntryAt(std::string_view page, size_t at);

 private:
  LmdbPage(std::string_view bytes, bool leaf, size_t size) : bytes_(bytes), leaf_(leaf), size_(size) {}

  // Where a key or entry begins; nullopt: damage.
  std::optional<size_t> At(size_t number) const;

  std::string_view bytes_;
  bool leaf_;
  size_t size_;
};

// Whether the first kLmdbPageHead bytes of a page say that a value begins in it.
bool IsOverflowPage(std::string_view head, uint64_t number);
// The page that the `value` of a big entry names.
uint64_t OverflowPageOf(const LmdbEntry& entry);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_LMDB_LMDB_PAGE_H_
