// `MindRecordSource` is a source of the rows of MindRecord files, by number: row i is the i-th of all files in order,
// and its key is i. It reads scalars only if a column needs them, and blobs likewise. Use it for MindRecord operators.
// Threads: as IndexedSource's.
#ifndef HEADRACE_OPS_SOURCE_MINDRECORD_MIND_RECORD_SOURCE_H_
#define HEADRACE_OPS_SOURCE_MINDRECORD_MIND_RECORD_SOURCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/operator/operator.h"
#include "io/formats/mindrecord/mind_rows.h"
#include "ops/source/mindrecord/mind_columns.h"

namespace headrace {

class MindRecordSource : public IndexedSource {
 public:
  // `files` outlives it; `fields` are those of MindColumns.
  MindRecordSource(const FileSystem* files, std::shared_ptr<const MindTable> table, const std::vector<int>& fields,
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
  struct Parts;

  absl::InlinedVector<uint64_t, 2> ItemsOf(absl::Span<const uint64_t> rows) const;
  absl::Status ReadParts(const RowPositions& wanted, Parts& parts) const;
  Provenance ProvenanceOf(uint64_t row) const;
  absl::Status Located(const MindDamage& damage, uint64_t row) const;

  const MindRows reader_;
  const MindColumns columns_;
  const Fingerprint fingerprint_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MINDRECORD_MIND_RECORD_SOURCE_H_
