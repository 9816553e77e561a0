// `IndexedTfRecords` gives the payloads of TFRecords as items, by a table of their frames. It checks both CRCs of each.
// Threads: as RandomAccessReader's.
#ifndef HEADRACE_IO_FORMATS_TFRECORD_INDEXED_TF_RECORDS_H_
#define HEADRACE_IO_FORMATS_TFRECORD_INDEXED_TF_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/files/file_system.h"
#include "io/formats/joined_reads.h"
#include "io/formats/random_access_reader.h"
#include "io/formats/tfrecord/tf_record_table.h"

namespace headrace {

class IndexedTfRecords : public RandomAccessReader {
 public:
  // `files` outlives it.
  IndexedTfRecords(const FileSystem* files, std::shared_ptr<const TfRecordTable> table);

  uint64_t size() const override { return table_->size(); }
  Location LocationOf(uint64_t item) const override;
  std::shared_ptr<const std::string> Path(uint64_t file) const override { return reads_.path(file); }
  // kData: no record is where the table says, or its payload has another CRC.
  size_t Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const override;
  absl::Status CheckFiles() const override { return reads_.CheckFiles(); }
  int most_outstanding() const override { return reads_.most_outstanding(); }
  void Start(absl::Span<const uint64_t> items) const override;

 private:
  JoinedReads::Piece PieceOf(uint64_t item) const;
  absl::Status Cut(uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<const uint8_t> bytes,
                   Content& content) const;
  absl::Status ReadLong(uint64_t item, uint64_t file, const JoinedReads::OpenFile& opened, Content& content) const;
  absl::Status NotThere(uint64_t item, uint64_t file) const;

  const std::shared_ptr<const TfRecordTable> table_;
  const JoinedReads reads_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TFRECORD_INDEXED_TF_RECORDS_H_
