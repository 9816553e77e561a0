// `IndexedRecords` gives records of RecordIO files as items, by a table of their offsets.
// Threads: as RandomAccessReader's.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_INDEXED_RECORDS_H_
#define HEADRACE_IO_FORMATS_RECORDIO_INDEXED_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/files/file_system.h"
#include "io/formats/joined_reads.h"
#include "io/formats/random_access_reader.h"
#include "io/formats/recordio/record_table.h"

namespace headrace {

class IndexedRecords : public RandomAccessReader {
 public:
  // `files` outlives it.
  IndexedRecords(const FileSystem* files, std::shared_ptr<const RecordTable> table);

  uint64_t size() const override { return table_->size(); }
  Location LocationOf(uint64_t item) const override;
  std::shared_ptr<const std::string> Path(uint64_t file) const override { return reads_.path(file); }
  // kData, naming the index, the key and the byte: no record begins where the index says.
  size_t Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const override;
  absl::Status CheckFiles() const override { return reads_.CheckFiles(); }
  int most_outstanding() const override { return reads_.most_outstanding(); }
  void Start(absl::Span<const uint64_t> items) const override;

 private:
  JoinedReads::Piece PieceOf(uint64_t item) const;
  int64_t EndOf(uint64_t item, uint64_t file) const;
  absl::Status CutOne(uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<uint8_t> bytes,
                      Content& content) const;
  absl::Status ReadLong(const JoinedReads::OpenFile& opened, int64_t offset, absl::Span<const uint8_t> bytes,
                        size_t reach, Content& content) const;
  absl::Status NoHead(uint64_t item, uint64_t file) const;

  const std::shared_ptr<const RecordTable> table_;
  const JoinedReads reads_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_INDEXED_RECORDS_H_
