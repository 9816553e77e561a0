// `LmdbSource` is a source of the entries of an LMDB file, by number in the order of their keys. It reads values only
// if a column needs them. Threads: as IndexedSource's.
#ifndef HEADRACE_OPS_SOURCE_LMDB_LMDB_SOURCE_H_
#define HEADRACE_OPS_SOURCE_LMDB_LMDB_SOURCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/operator/operator.h"
#include "io/formats/lmdb/lmdb_rows.h"

namespace headrace {

enum class LmdbColumn : int { kKey = 0, kValue = 1 };

class LmdbSource : public IndexedSource {
 public:
  // `files` outlives it; `columns` are those to give, in this order.
  LmdbSource(const FileSystem* files, std::shared_ptr<const LmdbTable> table, std::vector<LmdbColumn> columns,
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
  struct Entries;

  absl::InlinedVector<uint64_t, 2> ItemsOf(absl::Span<const uint64_t> rows) const;
  // Returns how many rows were read: fewer if the next one fails, for the reason in `wrong`.
  size_t ReadEntries(absl::Span<const uint64_t> rows, Entries& entries, absl::Status& wrong) const;
  Provenance ProvenanceOf(uint64_t row) const;

  const LmdbRows reader_;
  const std::vector<LmdbColumn> columns_;
  const bool values_;  // are needed
  const Fingerprint fingerprint_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_LMDB_LMDB_SOURCE_H_
