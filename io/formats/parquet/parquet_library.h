// `ParquetLibrary` is what decodes Parquet files: it gives their footers, and their row groups as arrays of the Arrow C
// data interface. A process has one at most, which the host language brings along; tests bring one of their own.
// Threads: a library and its files may be used from any thread at once; ParquetBatches belong to one thread at a time.
#ifndef HEADRACE_IO_FORMATS_PARQUET_PARQUET_LIBRARY_H_
#define HEADRACE_IO_FORMATS_PARQUET_PARQUET_LIBRARY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/arrow/arrow_owner.h"

namespace headrace {

// The rows of a row group, in order.
class ParquetBatches {
 public:
  virtual ~ParquetBatches() = default;
  // A struct of the columns of the next rows, at least one row; null: there are no more. Not called again after an
  // error.
  virtual absl::StatusOr<HeldArrow> Next() = 0;
};

// An open file, whose footer has been read. Errors say what is wrong, and need not name the file.
class ParquetFile {
 public:
  virtual ~ParquetFile() = default;
  // The number of rows of each row group.
  virtual const std::vector<int64_t>& group_rows() const = 0;
  // Of all columns, as a struct.
  virtual absl::StatusOr<ArrowOwner<ArrowSchema>> Schema() const = 0;
  // Reads these columns of a row group, by their names at the top of the schema, at least one; arrays have them in the
  // order of the file.
  virtual absl::StatusOr<std::unique_ptr<ParquetBatches>> Read(size_t group,
                                                               const std::vector<std::string>& columns) const = 0;
};

class ParquetLibrary {
 public:
  virtual ~ParquetLibrary() = default;
  // kData: it is no Parquet file, or is damaged or encrypted. `path` is one of the machine's own files.
  virtual absl::StatusOr<std::shared_ptr<const ParquetFile>> Open(const std::string& path) const = 0;
  // The same of a file of a store, of which it reads the footer and the columns that are asked for alone. `path` is for
  // messages. The default implementation reads none: kUnsupported.
  virtual absl::StatusOr<std::shared_ptr<const ParquetFile>> OpenFar(
      const std::string& path, std::shared_ptr<const RandomAccessFile> file) const;
};

// Replaces the library of the process, which outlives all use; null: it has none.
void SetParquetLibrary(const ParquetLibrary* library);
// kUnsupported: the process has none.
absl::StatusOr<const ParquetLibrary*> FindParquetLibrary();

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_PARQUET_PARQUET_LIBRARY_H_
