// `ParquetFiles` opens the files of a table as they are read, and keeps a few of them open. It checks that a file still
// has the row groups that the table numbers, and the columns that the graph names.
// Threads: any thread.
#ifndef HEADRACE_OPS_SOURCE_PARQUET_PARQUET_FILES_H_
#define HEADRACE_OPS_SOURCE_PARQUET_PARQUET_FILES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/operator/operator.h"
#include "io/formats/parquet/parquet_library.h"
#include "io/formats/parquet/parquet_table.h"
#include "ops/source/parquet/parquet_columns.h"

namespace headrace {

struct OpenedParquet {
  uint64_t number = 0;
  uint64_t first_row = 0;  // the number of its first row in the table
  std::shared_ptr<const std::string> path;
  bool changed = false;  // it has another size than the table says
  std::shared_ptr<const ParquetFile> file;
  std::shared_ptr<const ParquetColumns> columns;
};

// Some rows of a row group, next to each other.
struct ParquetRun {
  uint64_t first = 0;  // the number of its first row in the row group
  uint64_t rows = 0;
  std::shared_ptr<const ArrowBatch> batch = {};  // null: no column is read of it
  int64_t bytes = 0;                             // that it keeps in memory, about
  size_t copied_bytes = 0;                       // ParquetColumns::CopiedBytes
};

// Gives the rows of a row group, from its first on.
// Threads: one thread at a time.
class ParquetGroupReader {
 public:
  // `group` belongs to the file.
  static absl::StatusOr<std::unique_ptr<ParquetGroupReader>> Open(OpenedParquet opened,
                                                                  const ParquetTable::Group& group);
  // At least one row; none: the row group has no more. kData, naming the row group: it is damaged, or has other rows
  // than its footer says.
  absl::StatusOr<ParquetRun> Next();
  const OpenedParquet& opened() const { return opened_; }

 private:
  ParquetGroupReader(OpenedParquet opened, const ParquetTable::Group& group)
      : opened_(std::move(opened)), group_(group) {}

  absl::Status OfGroup(const absl::Status& error) const;
  absl::StatusOr<ParquetRun> NextRead();

  const OpenedParquet opened_;
  const ParquetTable::Group group_;
  std::unique_ptr<ParquetBatches> batches_;
  std::shared_ptr<const ArrowBatch> last_;  // with which the next one may share a dictionary
  uint64_t at_ = 0;
};

class ParquetFiles {
 public:
  // `files` and `library` outlive it.
  ParquetFiles(const FileSystem* files, const ParquetLibrary* library, std::shared_ptr<const ParquetTable> table,
               ParquetFields fields);

  const ParquetTable& table() const { return *table_; }
  // Whether a row group of the table is one of a far file.
  bool IsFar(size_t group) const;
  // Errors name the file.
  absl::StatusOr<OpenedParquet> Open(uint64_t number);
  // Opens a row group of the table.
  absl::StatusOr<std::unique_ptr<ParquetGroupReader>> OpenGroup(size_t group);
  // As IndexedSource::CheckUnchanged.
  absl::Status CheckUnchanged();

 private:
  static constexpr size_t kMostOpen = 32;

  absl::StatusOr<OpenedParquet> OpenAnew(uint64_t number) const;
  absl::Status CheckGroups(const OpenedParquet& opened) const;

  const FileSystem* const files_;
  const ParquetLibrary* const library_;
  const std::shared_ptr<const ParquetTable> table_;
  const ParquetFields fields_;
  std::mutex mutex_;
  std::deque<OpenedParquet> open_;  // the latest first
  bool checks_ = false;             // the store refuses no reads of another version
  std::set<uint64_t> unchecked_;    // files that were opened and not looked at since
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_PARQUET_PARQUET_FILES_H_
