// Records of RecordIO files as items, by a table of where they are. Records that follow each other in a file and are
// asked for together are read together; all reads of one call are outstanding at once where the file system allows.
// Thread contract: as RandomAccessReader's.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_INDEXED_RECORDS_H_
#define HEADRACE_IO_FORMATS_RECORDIO_INDEXED_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/files/file_system.h"
#include "io/formats/pending_read.h"
#include "io/formats/random_access_reader.h"
#include "io/formats/recordio/record_table.h"

namespace headrace {

class IndexedRecords : public RandomAccessReader {
 public:
  // `files` outlives it.
  IndexedRecords(const FileSystem* files, std::shared_ptr<const RecordTable> table);

  uint64_t size() const override { return table_->size(); }
  Location LocationOf(uint64_t item) const override;
  std::shared_ptr<const std::string> Path(uint64_t file) const override { return paths_[file]; }
  // kData, naming the index, the key and the byte: no record begins where the index says.
  size_t Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const override;

 private:
  struct OpenFile {
    std::shared_ptr<const RandomAccessFile> file;
    int64_t size = 0;
  };
  // Items that are read together: bytes [begin, end) of a file.
  struct Run {
    size_t items = 0;
    uint64_t file = 0;
    int64_t begin = 0;
    int64_t end = 0;
    OpenFile opened = {};
    std::shared_ptr<PendingRead> read = {};
  };

  absl::StatusOr<OpenFile> Open(uint64_t file) const;
  int64_t EndOf(uint64_t item, uint64_t file) const;
  Run RunFrom(absl::Span<const uint64_t> items) const;
  absl::Status Start(Run& run) const;
  // Cuts the run's items out of its bytes; returns how many.
  size_t Cut(const Run& run, absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const;
  absl::Status CutOne(const Run& run, uint64_t item, absl::Span<uint8_t> bytes, Content& content) const;
  absl::Status ReadLong(const OpenFile& opened, int64_t offset, absl::Span<const uint8_t> bytes, size_t reach,
                        Content& content) const;
  absl::Status NoHead(uint64_t item, uint64_t file) const;

  const FileSystem* const files_;
  const std::shared_ptr<const RecordTable> table_;
  std::vector<std::shared_ptr<const std::string>> paths_;
  mutable std::mutex mutex_;
  mutable std::vector<OpenFile> open_;         // by file; without a file: it is not open
  mutable std::deque<uint64_t> opened_files_;  // in the order in which they were opened
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_INDEXED_RECORDS_H_
