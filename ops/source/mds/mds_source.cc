#include "ops/source/mds/mds_source.h"

#include "absl/container/inlined_vector.h"
#include "core/error.h"
#include "ops/source/read_one.h"

namespace headrace {

Provenance MdsSource::ProvenanceOf(uint64_t row) const {
  const RandomAccessReader::Location location = reader_.LocationOf(row);
  return {reader_.Path(location.file), location.record, location.offset};
}

absl::Status MdsSource::Read(const RowPosition& wanted, Block& block) const { return ReadOne(*this, wanted, block); }

absl::Status MdsSource::ReadRows(const RowPositions& wanted, Block& block) const {
  absl::InlinedVector<RandomAccessReader::Content, 1> contents(wanted.positions.size());
  absl::Status wrong;
  const size_t read = reader_.Read(wanted.positions, absl::MakeSpan(contents), wrong);
  if (read == 0) return wrong;
  absl::InlinedVector<MdsSample, 1> samples(read);
  for (size_t i = 0; i < read; ++i) samples[i] = {&contents[i].buffer, contents[i].bytes};
  absl::Status damage;
  const size_t good = columns_.Make(samples, block.columns, damage);
  if (!damage.ok()) {
    AddErrorField(damage, ErrorField::kFile, DescribeProvenance(ProvenanceOf(wanted.positions[good])));
    wrong = std::move(damage);
  }
  for (size_t i = 0; i < good; ++i) {
    block.ids.push_back({wanted.epoch, wanted.positions[i], false, contents[i].changed});
    block.provenances.push_back(ProvenanceOf(wanted.positions[i]));
  }
  return wrong;
}

void MdsSource::Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const {
  id = {epoch, position};
  provenance = ProvenanceOf(position);
}

}  // namespace headrace
