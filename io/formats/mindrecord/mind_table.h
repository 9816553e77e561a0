// `MindTable` says where the rows of a set of MindRecord files are: two items a row, its scalars and its blob. It takes
// 16 bytes a row. Use it with MindRows, which reads these items.
// Threads: made by one thread; const afterwards, and readable from any.
#ifndef HEADRACE_IO_FORMATS_MINDRECORD_MIND_TABLE_H_
#define HEADRACE_IO_FORMATS_MINDRECORD_MIND_TABLE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/item_table.h"
#include "io/formats/mindrecord/mind_header.h"
#include "io/formats/mindrecord/mind_set.h"

namespace headrace {

// How the bytes of a row become its fields.
struct MindLayout {
  bool packed = false;
  std::vector<MindField> fields = {};
  std::vector<size_t> blob_fields = {};  // as in MindHeader
};

class MindTable {
 public:
  // The items of a row.
  struct RowItems {
    uint64_t scalars;
    uint64_t blob;
  };
  struct Place {
    uint64_t file;
    uint64_t row;  // of the file
    bool in_blob;  // else in raw pages
    int64_t page;
    int64_t offset;  // in the file, in bytes
  };

  explicit MindTable(MindLayout layout) : layout_(std::move(layout)) {}

  // Numbers the rows of the next file. `scalars` and `blobs` have equally many items.
  void Add(const MindFile& file, ItemSpans scalars, ItemSpans blobs);

  // Rows.
  uint64_t size() const { return items_.size() / 2; }
  uint64_t fingerprint() const { return items_.fingerprint(); }
  const MindLayout& layout() const { return layout_; }
  const ItemTable& items() const { return items_; }
  RowItems ItemsOf(uint64_t row) const;
  // The row that has the item.
  uint64_t RowOf(uint64_t item) const;
  Place PlaceOf(uint64_t item) const;

 private:
  struct Pages {
    int64_t header_size;
    int64_t page_size;
  };

  // Rows of a file.
  uint64_t RowsIn(uint64_t file) const;

  MindLayout layout_;
  ItemTable items_;
  std::vector<Pages> pages_;  // of each file
};

// Of the files, in this order. `keep`: where rows are is kept beside each file, in an index (io/formats/item_index.h),
// and such an index is used; `writes`: one may be written.
absl::StatusOr<MindTable> MakeMindTable(const FileSystem& files, const std::vector<std::string>& paths,
                                        MindNaming naming, bool keep, bool writes);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MINDRECORD_MIND_TABLE_H_
