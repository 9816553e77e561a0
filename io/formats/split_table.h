// The splits of a list of files, by number: each file is cut by itself into pieces of `split_bytes`, in order. A file
// has at least one split, also if it was listed as empty.
// Thread contract: immutable.
#ifndef HEADRACE_IO_FORMATS_SPLIT_TABLE_H_
#define HEADRACE_IO_FORMATS_SPLIT_TABLE_H_

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

  // For files of so many bytes together: 1/1024 of them, between 64 KiB and 16 MiB.
  static int64_t DefaultSplitBytes(int64_t total);

  uint64_t size() const { return first_.back(); }
  struct Place {
    uint64_t file;
    Split split;
  };
  Place At(uint64_t number) const;

 private:
  const int64_t split_bytes_;
  std::vector<uint64_t> first_;  // the first split of each file; at the end, their number
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_SPLIT_TABLE_H_
