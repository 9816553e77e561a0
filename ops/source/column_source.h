// `ColumnSource` is a source of rows by position over items: row i is item i, its key is i, and its columns are made as
// those of a stream of records are (ops/source/split_source.h).
// Threads: as IndexedSource's.
#ifndef HEADRACE_OPS_SOURCE_COLUMN_SOURCE_H_
#define HEADRACE_OPS_SOURCE_COLUMN_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/operator/operator.h"
#include "io/formats/random_access_reader.h"
#include "ops/source/split_source.h"

namespace headrace {

using MakeColumns = std::function<std::unique_ptr<RecordColumns>()>;

class ColumnSource : public IndexedSource {
 public:
  // Contents of the reader have the slack after them that the columns need.
  ColumnSource(std::unique_ptr<const RandomAccessReader> reader, MakeColumns make, Fingerprint fingerprint)
      : reader_(std::move(reader)), make_(std::move(make)), fingerprint_(std::move(fingerprint)) {}

  uint64_t size() const override { return reader_->size(); }
  IndexedProperties properties() const override { return {.far_reads = reader_->most_outstanding()}; }
  absl::Status Read(const RowPosition& wanted, Block& block) const override;
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override;
  absl::Status CheckUnchanged() const override { return reader_->CheckFiles(); }
  void StartRows(const RowPositions& wanted) const override { reader_->Start(wanted.positions); }
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override;
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override { fingerprints.push_back(fingerprint_); }

 private:
  using Contents = absl::Span<const RandomAccessReader::Content>;

  // Adds items that were read together, at least one, to the columns, and those that it added to the block.
  absl::Status AddItems(uint64_t epoch, absl::Span<const uint64_t> positions, Contents contents, RecordColumns& columns,
                        Block& block) const;
  std::unique_ptr<RecordColumns> TakeColumns() const;
  void KeepColumns(std::unique_ptr<RecordColumns> columns) const;

  const std::unique_ptr<const RandomAccessReader> reader_;
  const MakeColumns make_;
  const Fingerprint fingerprint_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<RecordColumns>> idle_;  // that no thread uses
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_COLUMN_SOURCE_H_
