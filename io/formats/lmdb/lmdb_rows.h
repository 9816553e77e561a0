// `LmdbRows` reads the entries of an LmdbTable by number, as items: item 2 i is the head, the key and, if it follows
// the key, the value of row i; item 2 i + 1 is a value that has pages of its own. Threads: as RandomAccessReader's.
#ifndef HEADRACE_IO_FORMATS_LMDB_LMDB_ROWS_H_
#define HEADRACE_IO_FORMATS_LMDB_LMDB_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/files/file_system.h"
#include "io/formats/joined_reads.h"
#include "io/formats/lmdb/lmdb_table.h"
#include "io/formats/random_access_reader.h"

namespace headrace {

class LmdbRows : public RandomAccessReader {
 public:
  // `files` outlives it.
  LmdbRows(const FileSystem* files, std::shared_ptr<const LmdbTable> table);

  const LmdbTable& table() const { return *table_; }
  // Items.
  uint64_t size() const override { return 2 * table_->size(); }
  Location LocationOf(uint64_t item) const override;
  std::shared_ptr<const std::string> Path(uint64_t file) const override { return reads_.path(file); }
  // kData: an entry is another than when the table was made. It may also have been overwritten without a trace: call
  // CheckUnchanged after it.
  size_t Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const override;
  absl::Status CheckFiles() const override { return reads_.CheckFiles(); }
  int most_outstanding() const override { return reads_.most_outstanding(); }
  void Start(absl::Span<const uint64_t> items) const override;
  // kData: something was committed since the table was made. LMDB overwrites no page of the last transaction before
  // the next one is committed: what was read before this call is whole if it is OK. Looks at the file that
  // Read has open, also after another file took its name.
  absl::Status CheckUnchanged() const;

 private:
  JoinedReads::Piece PieceOf(uint64_t item) const;
  absl::Status CutItem(uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<const uint8_t> bytes,
                       Content& content) const;
  absl::Status CompareMeta() const;

  const std::shared_ptr<const LmdbTable> table_;
  const JoinedReads reads_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_LMDB_LMDB_ROWS_H_
