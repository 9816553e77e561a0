// `ParquetColumns` makes the columns of a source from the rows of one Parquet file: of what its row groups hold, by the
// mapping of Arrow's types, and of the names of its folders.
// Threads: const; any thread.
#ifndef HEADRACE_OPS_SOURCE_PARQUET_PARQUET_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_PARQUET_PARQUET_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/block.h"
#include "io/files/file_system.h"
#include "io/formats/arrow/arrow_batch.h"
#include "io/formats/arrow/arrow_mapping.h"
#include "io/formats/arrow/gathered_rows.h"
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
  // Whether columns are made that are Lent; without rows otherwise.
  enum class Lent : bool { kMade, kLeftOut };
  // Makes all columns of `count` rows that lie side by side, at least one; `batch` is null where none is read. Returns
  // how many rows they have: fewer if the next row fails, for the reason in `wrong`. Without a row there are no
  // columns.
  size_t Make(const ArrowBatch* batch, int64_t first, size_t count, Made& columns, absl::Status& wrong,
              Lent lent = Lent::kMade) const;
  // Whether rows of a column can be copied as they lie in the batch, none of which fails.
  bool Copies(const ArrowBatch* batch, size_t column) const {
    const Source& source = sources_[column];
    return source.mapped >= 0 && batch->column(static_cast<size_t>(source.mapped)).copies();
  }
  // If rows of all columns can be copied so: the bytes of one; else 0. `batch`: as Make's.
  size_t CopiedBytes(const ArrowBatch* batch) const;
  // A row of a batch of one of several files; `batch` as Make's.
  struct Place {
    const ParquetColumns* columns = nullptr;
    const ArrowBatch* batch = nullptr;
    int64_t row = 0;
  };
  // Makes all columns of rows that lie anywhere, at least one, in memory of their own. Returns as Make.
  static size_t Gather(absl::Span<const Place> places, Made& columns, absl::Status& wrong);
  // Whether rows of a column can be gathered from where they lie in the batch, once CheckLent has passed them.
  bool IsLent(const ArrowBatch* batch, size_t column) const;
  // Of such a column: how many of these rows, each `step` after the one before, do not fail; of the next one, `wrong`
  // says why. Adds the bytes of those to `bytes`.
  size_t CheckLent(const ArrowBatch& batch, size_t column, int64_t first, size_t step, size_t count, size_t& bytes,
                   absl::Status& wrong) const;
  // Of a column that is lent: the same rows, which lie side by side.
  BlockColumn LentRows(const ArrowBatch& batch, size_t column, int64_t first, size_t count) const;
  RowOfArrow LentRow(const ArrowBatch& batch, size_t column, int64_t row) const {
    return {&batch.column(static_cast<size_t>(sources_[column].mapped)), row};
  }
  // How many columns there are.
  size_t size() const { return sources_.size(); }
  // Of such a column: copies rows that lie side by side, and returns where the next one goes.
  uint8_t* Copy(const ArrowBatch& batch, size_t column, int64_t first, int64_t count, uint8_t* target) const {
    return batch.column(static_cast<size_t>(sources_[column].mapped)).CopyRows(first, count, target);
  }
  // The dtype and shape of its rows.
  std::pair<DType, Shape> TypeOf(size_t column) const;
  size_t BytesOfRow(size_t column) const;

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
  static std::optional<BlockColumn> GatherColumn(absl::Span<const Place> places, size_t column);
  // Returns how many rows the column has: fewer if the next one fails.
  static size_t AppendRows(absl::Span<const Place> places, size_t number, BlockColumn& column, absl::Status& wrong);
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
