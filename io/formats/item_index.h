// `FindItems` says where the items of a file are. It takes the index that is kept beside the file, "a.tar.hridx" beside
// "a.tar", if it was made of this file as it is now; otherwise it walks over the file and keeps the result there, if
// that may be written. Use it for formats that have no index of their own.
// Threads: pure functions; files are read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_ITEM_INDEX_H_
#define HEADRACE_IO_FORMATS_ITEM_INDEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/item_table.h"

namespace headrace {

inline constexpr std::string_view kItemIndexEnding = ".hridx";

struct ItemIndex {
  // One in most formats. Two where an item lies in two places, as a row of MindRecord in its two pages. At most 8.
  std::vector<ItemSpans> parts = {};
  // What else the format's walk has found: its own bytes, to be checked like those of any file.
  std::string found = {};
  // Damage was left out: the index is not kept, which would hide that from the next run.
  bool left_out = false;

  friend bool operator==(const ItemIndex&, const ItemIndex&) = default;
};

// Finds the items of an open file of `size` bytes. Looks at Interrupt. An error names the byte; FindItems adds the
// file.
using WalkItems = absl::FunctionRef<absl::StatusOr<ItemIndex>(const RandomAccessFile& file, int64_t size)>;

struct FoundItems {
  int64_t size = 0;  // of the file, in bytes
  ItemIndex index;
};

// `format`: of the walk, with a number that changes when it finds other items: "tar 1". Up to 64 bytes. `writes`: the
// index may be kept. The spans lie within the file, whoever wrote the index.
absl::StatusOr<FoundItems> FindItems(const FileSystem& files, const std::string& path, std::string_view format,
                                     bool writes, WalkItems walk);

// What tells whether a file is still the one of which an index was made.
struct IndexedFile {
  int64_t size = 0;
  // Its change time; below 0: of its version, where a store has one. 0: not known, or too recent to show another
  // change.
  int64_t changed_ns = 0;
  uint32_t checksum = 0;  // of bytes at the beginnings of items; 0 where the version tells a change

  friend bool operator==(const IndexedFile&, const IndexedFile&) = default;
};

std::string FormatItemIndex(std::string_view format, const IndexedFile& of, const ItemIndex& index);
struct ParsedItemIndex {
  IndexedFile of;
  ItemIndex index;
};
// Whether the bytes begin as those of an index do, of any version.
bool IsItemIndex(std::string_view bytes);
// kData, naming `path`: not an index, a damaged one, or one of another version or format.
absl::StatusOr<ParsedItemIndex> ParseItemIndex(std::string_view bytes, std::string_view format, std::string_view path);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ITEM_INDEX_H_
