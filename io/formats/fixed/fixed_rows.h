// `FixedRows` reads the rows of the parts of a FixedTable by number. Item i is row i % size() of part i / size(), where
// size() is that of the table.
// Threads: as RandomAccessReader's.
#ifndef HEADRACE_IO_FORMATS_FIXED_FIXED_ROWS_H_
#define HEADRACE_IO_FORMATS_FIXED_FIXED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/files/file_system.h"
#include "io/formats/fixed/fixed_table.h"
#include "io/formats/joined_reads.h"
#include "io/formats/random_access_reader.h"

namespace headrace {

class FixedRows : public RandomAccessReader {
 public:
  // `files` outlives it.
  FixedRows(const FileSystem* files, std::shared_ptr<const FixedTable> table);

  const FixedTable& table() const { return *table_; }
  uint64_t ItemOf(size_t part, uint64_t row) const { return part * table_->size() + row; }
  // Items.
  uint64_t size() const override { return table_->parts().size() * table_->size(); }
  Location LocationOf(uint64_t item) const override;
  std::shared_ptr<const std::string> Path(uint64_t file) const override { return reads_.path(file); }
  size_t Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const override;
  absl::Status CheckFiles() const override { return reads_.CheckFiles(); }
  int most_outstanding() const override { return reads_.most_outstanding(); }
  void Start(absl::Span<const uint64_t> items) const override;

 private:
  struct Place {
    const FixedTable::Run* run;
    int64_t begin;  // as that of the run
    int64_t bytes;
    uint64_t row;  // of the run
  };

  Place PlaceOf(uint64_t item) const;
  JoinedReads::Piece PieceOf(uint64_t item) const;
  // How many of the items, from the first on, are all in memory, or all not.
  size_t Alike(absl::Span<const uint64_t> items) const;
  size_t ReadFiles(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const;
  void TakeUnpacked(absl::Span<const uint64_t> items, absl::Span<Content> contents) const;

  const std::shared_ptr<const FixedTable> table_;
  const JoinedReads reads_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_FIXED_FIXED_ROWS_H_
