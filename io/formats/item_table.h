// `ItemTable` maps the numbers of items to bytes of files, in the order of the files and of the items in each. Use it
// in a format whose items, such as lines, records or samples, are read by number. It takes 8 bytes an item, and up to
// 16 in a file whose items do not all end where the next ones begin. Threads: made by one thread; const afterwards, and
// readable from any.
#ifndef HEADRACE_IO_FORMATS_ITEM_TABLE_H_
#define HEADRACE_IO_FORMATS_ITEM_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

// Where the items of one file are, in the order of their numbers.
struct ItemSpans {
  std::vector<int64_t> begins = {};
  // One an item. Empty: each item ends where the next one begins, and the last one at `end`.
  std::vector<int64_t> ends = {};
  int64_t end = 0;

  friend bool operator==(const ItemSpans&, const ItemSpans&) = default;
};

class ItemTable {
 public:
  struct File {
    std::string path;
    int64_t size = 0;    // in bytes, when the table was made
    uint64_t first = 0;  // the number of its first item
  };

  // Numbers the items of the next file, which has `size` bytes.
  void Add(std::string path, int64_t size, ItemSpans items);

  uint64_t size() const { return begins_.size() - files_.size(); }
  const std::vector<File>& files() const { return files_; }
  // The number of the file that has the item.
  uint64_t FileOf(uint64_t item) const;
  // Where the item of that file begins, and where it ends at the latest, in bytes.
  int64_t Begin(uint64_t item, uint64_t file) const { return begins_[item + file]; }
  int64_t End(uint64_t item, uint64_t file) const {
    const OwnEnds& own = ends_[file];
    return own.some.empty() && own.all.empty() ? begins_[item + file + 1] : OwnEnd(item, file);
  }
  // Covers which items there are and where, not their bytes.
  uint64_t fingerprint() const;

 private:
  // An item that does not end where the next one begins.
  struct Apart {
    uint64_t item;  // in its file
    int64_t end;
  };
  // One of the two is empty; both: all items of the file end where the next ones begin.
  struct OwnEnds {
    std::vector<Apart> some = {};
    std::vector<int64_t> all = {};
  };

  static OwnEnds OwnEndsOf(const ItemSpans& items);
  int64_t OwnEnd(uint64_t item, uint64_t file) const;

  std::vector<File> files_;
  std::vector<int64_t> begins_;  // of the items of each file, then the end of its last one
  std::vector<OwnEnds> ends_;    // of each file
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ITEM_TABLE_H_
