// `ArrowTableSource` gives the rows of an Arrow table by number.
// Threads: as IndexedSource's.
#ifndef HEADRACE_OPS_SOURCE_ARROW_ARROW_TABLE_SOURCE_H_
#define HEADRACE_OPS_SOURCE_ARROW_ARROW_TABLE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/operator/operator.h"
#include "io/formats/arrow/arrow_table.h"
#include "ops/source/arrow/arrow_columns.h"

namespace headrace {

class ArrowTableSource : public IndexedSource {
 public:
  ArrowTableSource(std::string name, std::shared_ptr<const ArrowTable> table, ArrowFiles files)
      : name_(std::move(name)), table_(std::move(table)), files_(std::move(files)) {}

  uint64_t size() const override { return table_->rows(); }
  absl::Status Read(const RowPosition& wanted, Block& block) const override;
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override;
  void Identify(uint64_t epoch, uint64_t index, RowId& id, Provenance& provenance) const override;
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override;

 private:
  const std::string name_;
  const std::shared_ptr<const ArrowTable> table_;
  const ArrowFiles files_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_ARROW_ARROW_TABLE_SOURCE_H_
