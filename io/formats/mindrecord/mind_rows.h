// `MindRows` reads the scalars and the blobs of MindRecord rows, the items of a MindTable, as they are in the file.
// Threads: as RandomAccessReader's.
#ifndef HEADRACE_IO_FORMATS_MINDRECORD_MIND_ROWS_H_
#define HEADRACE_IO_FORMATS_MINDRECORD_MIND_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/files/file_system.h"
#include "io/formats/joined_reads.h"
#include "io/formats/mindrecord/mind_table.h"
#include "io/formats/random_access_reader.h"

namespace headrace {

class MindRows : public RandomAccessReader {
 public:
  // `files` outlives it.
  MindRows(const FileSystem* files, std::shared_ptr<const MindTable> table);

  const MindTable& table() const { return *table_; }
  // Items.
  uint64_t size() const override { return table_->items().size(); }
  Location LocationOf(uint64_t item) const override;
  std::shared_ptr<const std::string> Path(uint64_t file) const override { return reads_.path(file); }
  // Items that follow one another, as the scalars of some rows and then their blobs do, are read together. kData: a
  // length is another than when the table was made.
  size_t Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const override;
  absl::Status CheckFiles() const override { return reads_.CheckFiles(); }
  int most_outstanding() const override { return reads_.most_outstanding(); }
  void Start(absl::Span<const uint64_t> items) const override;

 private:
  JoinedReads::Piece PieceOf(uint64_t item) const;
  absl::Status CutItem(uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<const uint8_t> bytes,
                       Content& content) const;

  const std::shared_ptr<const MindTable> table_;
  const JoinedReads reads_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MINDRECORD_MIND_ROWS_H_
