// `SplitTable` holds the splits of a list of files, by number: each file is cut by itself into pieces of `split_bytes`,
// in order. A file has at least one split, also if it was listed as empty. A table may hold those of one part of the
// files: a range of the bytes of all files in succession.
// Threads: made by one thread; const afterwards, and readable from any.
#ifndef HEADRACE_IO_FORMATS_SPLIT_TABLE_H_
#define HEADRACE_IO_FORMATS_SPLIT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "io/formats/record_reader.h"

namespace headrace {

class SplitTable {
 public:
  // One split a file.
  static constexpr int64_t kWholeFiles = Split::kFileEnd;

  // `sizes` of the files in bytes; split_bytes is at least 1.
  SplitTable(absl::Span<const int64_t> sizes, int64_t split_bytes);

  // One of `count` parts, numbered from 0, each of total / count bytes rounded up to the format's alignment, as
  // dmlc-core's InputSplit cuts; the last ones may be empty. Every record begins in exactly one of them.
  struct Part {
    uint64_t number = 0;
    uint64_t count = 1;
    PartBorders borders = {};
  };
  SplitTable(absl::Span<const int64_t> sizes, int64_t split_bytes, const Part& part);

  // For files of so many bytes together: 1/1024 of them, between 64 KiB and 16 MiB.
  static int64_t DefaultSplitBytes(int64_t total);

  // The files that have a split which is not the whole file, ascending.
  std::vector<uint64_t> CutFiles() const;
  // Makes each of these files one split, that of its first byte: a part that does not have this byte has no split of
  // the file. Ascending.
  void KeepWhole(absl::Span<const uint64_t> files);

  uint64_t size() const { return pieces_.empty() ? 0 : pieces_.back().first + pieces_.back().splits; }
  struct FileSplit {
    uint64_t file;
    Split split;
  };
  FileSplit At(uint64_t number) const;

 private:
  // The table's entry for a file.
  struct Piece {
    uint64_t file;
    Split bytes;
    uint64_t first;  // the number of its first split
    uint64_t splits;
  };
  void Add(size_t file, int64_t size, const Split& bytes);

  const int64_t split_bytes_;
  std::vector<Piece> pieces_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_SPLIT_TABLE_H_
