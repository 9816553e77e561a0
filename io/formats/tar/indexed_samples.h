// `IndexedSamples` gives the samples of archives as items, by a table of where they are: the bytes that TarSample takes
// apart.
// Threads: as RandomAccessReader's.
#ifndef HEADRACE_IO_FORMATS_TAR_INDEXED_SAMPLES_H_
#define HEADRACE_IO_FORMATS_TAR_INDEXED_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/files/file_system.h"
#include "io/formats/item_table.h"
#include "io/formats/joined_reads.h"
#include "io/formats/random_access_reader.h"

namespace headrace {

class IndexedSamples : public RandomAccessReader {
 public:
  // `files` outlives it.
  IndexedSamples(const FileSystem* files, std::shared_ptr<const ItemTable> table);

  uint64_t size() const override { return table_->size(); }
  Location LocationOf(uint64_t item) const override;
  std::shared_ptr<const std::string> Path(uint64_t file) const override { return reads_.path(file); }
  // Contents have PendingRead::kSlack bytes after them. kData: the file ends before.
  size_t Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const override;
  absl::Status CheckFiles() const override { return reads_.CheckFiles(); }
  int most_outstanding() const override { return reads_.most_outstanding(); }
  void Start(absl::Span<const uint64_t> items) const override;

 private:
  JoinedReads::Piece PieceOf(uint64_t item) const;

  const std::shared_ptr<const ItemTable> table_;
  const JoinedReads reads_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TAR_INDEXED_SAMPLES_H_
