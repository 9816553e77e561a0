// `ParquetTable` numbers the rows of Parquet files by the row counts in their footers: in the order of the files, and
// of the row groups in each. Threads: made by one thread; const afterwards, and readable from any.
#ifndef HEADRACE_IO_FORMATS_PARQUET_PARQUET_TABLE_H_
#define HEADRACE_IO_FORMATS_PARQUET_PARQUET_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace headrace {

class ParquetTable {
 public:
  struct File {
    std::string path;
    int64_t size = 0;    // in bytes, when its footer was read
    uint64_t first = 0;  // the number of its first row
    // VersionHash of the one that was listed; 0: not known.
    uint64_t version = 0;
  };
  // A row group that has rows; empty ones have no place in the table.
  struct Group {
    uint64_t file = 0;   // its number among the files
    size_t number = 0;   // among the row groups of the file
    uint64_t first = 0;  // the number of its first row
    uint64_t rows = 0;
  };

  // Numbers the rows of the next file. kData: a count is negative, or the sum is beyond what can be counted.
  absl::Status Add(std::string path, int64_t size, absl::Span<const int64_t> group_rows, uint64_t version = 0);

  uint64_t size() const { return rows_; }
  const std::vector<File>& files() const { return files_; }
  const std::vector<Group>& groups() const { return groups_; }
  // The number, in groups(), of the one that has the row.
  size_t GroupOf(uint64_t row) const;
  // Covers how many rows each row group has, not their values.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  std::vector<File> files_;
  std::vector<Group> groups_;
  uint64_t rows_ = 0;
  uint64_t fingerprint_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_PARQUET_PARQUET_TABLE_H_
