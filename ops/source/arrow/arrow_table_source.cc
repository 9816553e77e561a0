#include "ops/source/arrow/arrow_table_source.h"

#include "core/error.h"
#include "ops/source/memory/name_rows.h"
#include "ops/source/read_one.h"

namespace headrace {

absl::Status ArrowTableSource::Read(const RowPosition& wanted, Block& block) const {
  return ReadOne(*this, wanted, block);
}

absl::Status ArrowTableSource::ReadRows(const RowPositions& wanted, Block& block) const {
  absl::InlinedVector<ArrowPlace, 16> places;
  places.reserve(wanted.positions.size());
  for (const uint64_t row : wanted.positions) {
    const ArrowTable::Place place = table_->Find(row);
    places.push_back({place.batch, place.row});
  }
  absl::Status wrong;
  const size_t made = AddArrowColumns(table_->mapping(), places, files_, block, wrong);
  NameRows(wanted.positions.subspan(0, made), wanted.epoch, block);
  return wrong;
}

void ArrowTableSource::Identify(uint64_t epoch, uint64_t index, RowId& id, Provenance& provenance) const {
  id = {epoch, index};
  provenance = {nullptr, static_cast<int64_t>(index), -1};
}

void ArrowTableSource::AddFingerprints(std::vector<Fingerprint>& fingerprints) const {
  fingerprints.push_back({Cat("Arrow ", name_), table_->rows(), table_->Hash()});
}

}  // namespace headrace
