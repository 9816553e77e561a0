// `LmdbTable` says where the entries of a tree of an LMDB file are, in the order of their keys. It takes 12 bytes an
// entry, and 20 where values have pages of their own. Use it with LmdbRows, which reads the entries.
// Threads: made by one thread; const afterwards, and readable from any.
#ifndef HEADRACE_IO_FORMATS_LMDB_LMDB_TABLE_H_
#define HEADRACE_IO_FORMATS_LMDB_LMDB_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/lmdb/lmdb_page.h"

namespace headrace {

class LmdbTable {
 public:
  struct File {
    std::string path;
    int64_t size = 0;  // in bytes, when the table was made
  };
  struct Place {
    int64_t at = 0;  // of the entry's head in the file, in bytes
    uint16_t key_bytes = 0;
    uint32_t value_bytes = 0;
    uint64_t value_page = 0;  // 0: the value follows the key
  };

  LmdbTable(std::string path, int64_t size, const LmdbMeta& meta) : files_{{std::move(path), size}}, meta_(meta) {}

  void Add(const Place& place);

  uint64_t size() const { return places_.size(); }
  uint64_t fingerprint() const;
  const std::vector<File>& files() const { return files_; }
  const LmdbMeta& meta() const { return meta_; }
  int64_t page_bytes() const { return meta_.page_bytes; }
  Place PlaceOf(uint64_t row) const;

 private:
  std::vector<File> files_;  // one
  LmdbMeta meta_;
  std::vector<uint64_t> places_;  // the byte, and the key's length in the last 16 bits
  std::vector<uint32_t> value_bytes_;
  std::vector<uint64_t> value_pages_;  // empty: no entry has one
};

// The file that a path means: the path itself, or data.mdb in a folder.
absl::StatusOr<std::string> FindLmdbFile(const FileSystem& files, const std::string& path);

// The later of the two meta pages, as a reader of LMDB takes it.
absl::StatusOr<LmdbMeta> ReadLmdbMeta(const FileSystem& files, const std::string& path);
// The same of an open file; the error does not name it.
absl::StatusOr<LmdbMeta> ReadLmdbMeta(const RandomAccessFile& file);

// `database`: the name of a tree; "": the main one, which then has no named ones. kData, naming the byte: damage, or a
// file that was cut off. kUnsupported: the tree sorts duplicates. kGraph: there is no such tree, or a name is needed.
absl::StatusOr<LmdbTable> MakeLmdbTable(const FileSystem& files, const std::string& path, const std::string& database);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_LMDB_LMDB_TABLE_H_
