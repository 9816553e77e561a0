// `FixedTable` says where the rows of a table are whose rows all have equally many bytes, such as the arrays of a .npy
// file. A table has one part or several, each with fields of its own: the rows of a part are end to end in runs, and a
// row of the table is one row of each part. It takes no memory for a row. Use it with FixedRows, which reads the rows.
// Threads: made by one thread; const afterwards, and readable from any.
#ifndef HEADRACE_IO_FORMATS_FIXED_FIXED_TABLE_H_
#define HEADRACE_IO_FORMATS_FIXED_FIXED_TABLE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/buffer.h"
#include "io/formats/fixed/fixed_field.h"

namespace headrace {

class FixedTable {
 public:
  struct File {
    std::string path;
    int64_t size = 0;  // in bytes, when the table was made
  };
  // Rows that are end to end.
  struct Run {
    uint64_t file = 0;
    int64_t begin = 0;  // of the first one, in the file or in `unpacked`
    uint64_t rows = 0;
    uint64_t first = 0;  // the number of its first row in the part
    // What a compressed file or member holds; null: the rows are in the file as they are.
    BufferRef unpacked = {};
  };
  struct Part {
    int64_t row_bytes = 0;
    std::vector<FixedField> fields = {};
    std::vector<Run> runs = {};

    uint64_t rows() const { return runs.empty() ? 0 : runs.back().first + runs.back().rows; }
    void Add(Run run);
    // The run that has the row.
    const Run& RunOf(uint64_t row) const;
  };

  // kData: the parts have different numbers of rows. `names`: what messages call the parts. At least one part.
  static absl::StatusOr<FixedTable> Of(std::vector<File> files, std::vector<Part> parts,
                                       const std::vector<std::string>& names);

  uint64_t size() const { return rows_; }
  const std::vector<File>& files() const { return files_; }
  const std::vector<Part>& parts() const { return parts_; }
  // Of memory that has what was unpacked.
  int64_t held_bytes() const;
  // Covers which rows there are and where, not their bytes.
  uint64_t fingerprint() const;

 private:
  FixedTable(std::vector<File> files, std::vector<Part> parts, uint64_t rows)
      : files_(std::move(files)), parts_(std::move(parts)), rows_(rows) {}

  std::vector<File> files_;
  std::vector<Part> parts_;
  uint64_t rows_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_FIXED_FIXED_TABLE_H_
