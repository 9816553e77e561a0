// `ParquetColumns` makes the columns of a source from the rows of one Parquet file: of what its row groups hold, by the
// mapping of Arrow's types, and of the names of its folders.
// Threads: const; any thread.
#ifndef HEADRACE_OPS_SOURCE_PARQUET_PARQUET_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_PARQUET_PARQUET_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "engine/operator/block.h"
#include "io/files/file_system.h"
#include "io/formats/arrow/arrow_batch.h"
#include "io/formats/arrow/arrow_mapping.h"
#include "ir/type.h"

namespace headrace {

// What the graph says of the columns that a source gives, in their order.
struct ParquetFields {
  ir::Columns columns = {};
  std::vector<std::string> folders = {};                       // those that the names of folders give
  ArrowChoices choices = {};                                   // `columns`: all others
  std::map<std::string, std::string, std::less<>> units = {};  // of columns of times

  bool IsOfFolders(std::string_view name) const;
};

class ParquetColumns {
 public:
  using Made = absl::InlinedVector<BlockColumn, 2>;

  // Of the file at `path`, which has this schema. kData, naming the column: it has other columns or types than the
  // fields say. `files` outlives it.
  static absl::StatusOr<std::unique_ptr<const ParquetColumns>> Of(const ParquetFields& fields,
                                                                  const ArrowSchema& schema, std::string path,
                                                                  const FileSystem* files);
  ParquetColumns(const ParquetColumns&) = delete;

  // The columns to read of a row group, by their names at the top of the schema; none: rows need not be read.
  const std::vector<std::string>& read() const { return read_; }
  // The rows of an array of these columns; messages count them from `first_row`.
  // `before`: the one before, or null.
  absl::StatusOr<ArrowBatch> Check(const HeldArrow& array, uint64_t first_row, const ArrowBatch* before) const {
    return ArrowBatch::Of(mapping_, array, first_row, before);
  }
  // Bytes of memory that values of such an array, which was checked, take, about.
  int64_t BytesOf(const ArrowArray& array) const;
  // Makes all columns of `count` rows that lie side by side, at least one; `batch` is null where none is read. Returns
  // how many rows they have: fewer if the next row fails, for the reason in `wrong`. Without a row there are no
  // columns.
  size_t Make(const ArrowBatch* batch, int64_t first, size_t count, Made& columns, absl::Status& wrong) const;

 private:
  struct Source {
    int mapped = -1;       // its number in the mapping; -1: it is `constant`
    Tensor constant = {};  // of each row
  };

  ParquetColumns(std::string path, const FileSystem* files) : path_(std::move(path)), files_(files) {}

  absl::Status Map(const ParquetFields& fields, const ArrowSchema& schema);
  absl::StatusOr<Source> FolderSource(const ir::Column& column) const;
  absl::Status AddSources(const ParquetFields& fields);
  // As Make.
  size_t MakeColumn(const Source& source, const ArrowBatch* batch, int64_t first, size_t count, BlockColumn& column,
                    absl::Status& wrong) const;
  absl::StatusOr<Tensor> RowOf(const ArrowRows& rows, ArrowKind kind, int64_t row) const;
  absl::StatusOr<Tensor> ReadPath(std::string_view path) const;

  const std::string path_;
  const FileSystem* const files_;
  ArrowMapping mapping_;
  std::vector<std::string> read_;
  std::vector<Source> sources_;  // of each column
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_PARQUET_PARQUET_COLUMNS_H_
