// `ItemSource` is a source of rows by position over items (io/formats/random_access_reader.h): row i is item i, and its
// key is i. Items are read only if a column needs their bytes.
// Threads: as IndexedSource's.
#ifndef HEADRACE_OPS_SOURCE_ITEM_SOURCE_H_
#define HEADRACE_OPS_SOURCE_ITEM_SOURCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/operator/operator.h"
#include "io/formats/random_access_reader.h"
#include "ops/source/item_columns.h"

namespace headrace {

class ItemSource : public IndexedSource {
 public:
  // `fields`: the columns to give, by their numbers among all columns of the source.
  ItemSource(std::unique_ptr<const RandomAccessReader> reader, std::unique_ptr<const ItemColumns> columns,
             std::vector<int> fields, Fingerprint fingerprint);

  uint64_t size() const override { return reader_->size(); }
  IndexedProperties properties() const override;
  absl::Status Read(const RowPosition& wanted, Block& block) const override;
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override;
  absl::Status CheckUnchanged() const override { return reader_->CheckFiles(); }
  void StartRows(const RowPositions& wanted) const override;
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override;
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override { fingerprints.push_back(fingerprint_); }

 private:
  const std::unique_ptr<const RandomAccessReader> reader_;
  const std::unique_ptr<const ItemColumns> columns_;
  const std::vector<int> fields_;
  const Fingerprint fingerprint_;
  const bool needs_bytes_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_ITEM_SOURCE_H_
