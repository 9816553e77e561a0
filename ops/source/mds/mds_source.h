// `MdsSource` is a source of MDS samples, by number: row i is sample i of all shards in order, and its key is i.
// Threads: as IndexedSource's.
#ifndef HEADRACE_OPS_SOURCE_MDS_MDS_SOURCE_H_
#define HEADRACE_OPS_SOURCE_MDS_MDS_SOURCE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/operator/operator.h"
#include "io/formats/mds/mds_rows.h"
#include "ops/source/mds/mds_columns.h"

namespace headrace {

class MdsSource : public IndexedSource {
 public:
  // `files` outlives it; `most_unpacked` as MdsRows'.
  MdsSource(const FileSystem* files, std::shared_ptr<const MdsTable> table, std::vector<MdsField> fields,
            int64_t most_unpacked, Fingerprint fingerprint)
      : reader_(files, table, most_unpacked),
        columns_(table->columns(), std::move(fields)),
        fingerprint_(std::move(fingerprint)) {}

  uint64_t size() const override { return reader_.size(); }
  IndexedProperties properties() const override { return {.far_reads = reader_.most_outstanding()}; }
  absl::Status Read(const RowPosition& wanted, Block& block) const override;
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override;
  absl::Status CheckUnchanged() const override { return reader_.CheckFiles(); }
  void StartRows(const RowPositions& wanted) const override { reader_.Start(wanted.positions); }
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override;
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override { fingerprints.push_back(fingerprint_); }

 private:
  Provenance ProvenanceOf(uint64_t row) const;

  const MdsRows reader_;
  const MdsColumns columns_;
  const Fingerprint fingerprint_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MDS_MDS_SOURCE_H_
