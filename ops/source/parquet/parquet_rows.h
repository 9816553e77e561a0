// `ParquetRows` is a source of the rows of Parquet files by number: row i is the i-th of all files in order, and its
// key is i. Row groups are decoded whole, and the latest are kept. Threads: as IndexedSource's.
#ifndef HEADRACE_OPS_SOURCE_PARQUET_PARQUET_ROWS_H_
#define HEADRACE_OPS_SOURCE_PARQUET_PARQUET_ROWS_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/seeded_hash.h"
#include "engine/operator/operator.h"
#include "ops/source/parquet/parquet_columns.h"
#include "ops/source/parquet/parquet_files.h"
#include "ops/source/parquet/row_group_cache.h"

namespace headrace {

class ParquetRows : public IndexedSource {
 public:
  // `most_bytes`: of row groups that are kept.
  ParquetRows(std::unique_ptr<ParquetFiles> files, int64_t most_bytes, Fingerprint fingerprint);

  uint64_t size() const override { return files_->table().size(); }
  absl::Status Read(const RowPosition& wanted, Block& block) const override;
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override;
  absl::Status CheckUnchanged() const override { return files_->CheckUnchanged(); }
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override;
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override { fingerprints.push_back(fingerprint_); }

 private:
  struct FoundRows {
    std::vector<ParquetColumns::Place> places;
    std::vector<const DecodedGroup*> groups;  // of each place
    std::unordered_map<uint64_t, std::shared_ptr<const DecodedGroup>, SeededHash> held;
  };

  absl::Status Find(absl::Span<const uint64_t> positions, FoundRows& found) const;
  void NameMade(uint64_t epoch, absl::Span<const uint64_t> positions, const FoundRows& found, Block& block) const;

  const std::unique_ptr<ParquetFiles> files_;
  mutable RowGroupCache cache_;
  const Fingerprint fingerprint_;
  const std::vector<std::shared_ptr<const std::string>> paths_;  // of the files of the table
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_PARQUET_PARQUET_ROWS_H_
