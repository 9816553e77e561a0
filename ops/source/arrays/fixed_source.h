// `FixedSource` is a source of the rows of a FixedTable, by number: its key is the row's number in the table. It reads
// the parts that its columns need. `MakeFixedSource` makes it of a table for the columns of an operator.
// Threads: as IndexedSource's.
#ifndef HEADRACE_OPS_SOURCE_ARRAYS_FIXED_SOURCE_H_
#define HEADRACE_OPS_SOURCE_ARRAYS_FIXED_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/operator/operator.h"
#include "io/formats/fixed/fixed_rows.h"
#include "ir/attributes.h"
#include "ir/type.h"
#include "ops/source/arrays/fixed_columns.h"

namespace headrace {

class FixedSource : public IndexedSource {
 public:
  // `files` outlives it; `places` are those of FixedColumns.
  FixedSource(const FileSystem* files, std::shared_ptr<const FixedTable> table, std::vector<FixedPlace> places,
              Fingerprint fingerprint);

  uint64_t size() const override { return reader_.table().size(); }
  IndexedProperties properties() const override { return {.far_reads = reader_.most_outstanding()}; }
  absl::Status Read(const RowPosition& wanted, Block& block) const override;
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override;
  absl::Status CheckUnchanged() const override { return reader_.CheckFiles(); }
  void StartRows(const RowPositions& wanted) const override;
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override;
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override { fingerprints.push_back(fingerprint_); }

 private:
  using Contents = std::vector<RandomAccessReader::Content>;

  Provenance ProvenanceOf(uint64_t row) const;
  std::vector<uint64_t> ItemsOf(absl::Span<const uint64_t> rows) const;
  // Reads all parts of the rows. Returns how many rows were read: fewer if the next one fails, for the reason in
  // `wrong`.
  size_t ReadParts(absl::Span<const uint64_t> rows, Contents& contents, absl::Status& wrong) const;

  const FixedRows reader_;
  const FixedColumns columns_;
  const Fingerprint fingerprint_;
};

// The columns that `fields` and `columns` declare (ops/source/arrays/fixed_columns.h).
absl::StatusOr<ir::Schema> InferFixedColumns(const ir::Attributes& attributes);
// The hidden attribute `fields` and the attribute `columns`.
ir::Attribute DeclareFixedFields();
ir::Attribute DeclareFixedColumns(std::string_view doc);

// Of files whose sizes and paths are in the table. kData: the table has other fields than when the pipeline was made.
absl::StatusOr<std::unique_ptr<IndexedSource>> MakeFixedSource(const OpArguments& arguments, std::string_view op,
                                                               std::shared_ptr<const FixedTable> table);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_ARRAYS_FIXED_SOURCE_H_
