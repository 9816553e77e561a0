#include "ops/source/mindrecord/mind_record_source.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "core/error.h"
#include "ops/source/read_one.h"

namespace headrace {

// What was read of some rows.
struct MindRecordSource::Parts {
  // The scalars of all rows, then their blobs, as far as they are needed.
  absl::InlinedVector<RandomAccessReader::Content, 2> contents;
  absl::InlinedVector<MindRowBytes, 1> rows;
  absl::InlinedVector<bool, 1> changed;  // whether the row's file was

  void Take(size_t count, bool scalars, bool blobs) {
    rows.resize(count);
    changed.resize(count);
    for (size_t i = 0; i < count; ++i) {
      if (scalars) rows[i].scalars = contents[i].bytes;
      const RandomAccessReader::Content& last = contents[i + (scalars && blobs ? contents.size() / 2 : 0)];
      if (blobs) rows[i].blob = last.bytes;
      if (blobs) rows[i].buffer = &last.buffer;
      changed[i] = contents[i].changed || last.changed;
    }
  }
};

MindRecordSource::MindRecordSource(const FileSystem* files, std::shared_ptr<const MindTable> table,
                                   const std::vector<int>& fields, Fingerprint fingerprint)
    : reader_(files, table), columns_(table->layout(), fields), fingerprint_(std::move(fingerprint)) {}

Provenance MindRecordSource::ProvenanceOf(uint64_t row) const {
  const RandomAccessReader::Location location = reader_.LocationOf(reader_.table().ItemsOf(row).scalars);
  return {reader_.Path(location.file), location.record, location.offset};
}

// All scalars, then all blobs, as far as they are needed: neighbours are read together.
absl::InlinedVector<uint64_t, 2> MindRecordSource::ItemsOf(absl::Span<const uint64_t> rows) const {
  const bool scalars = columns_.needs_scalars();
  const bool blobs = columns_.needs_blobs();
  absl::InlinedVector<uint64_t, 2> items((scalars && blobs ? 2 : 1) * rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const MindTable::RowItems of_row = reader_.table().ItemsOf(rows[i]);
    if (scalars) items[i] = of_row.scalars;
    if (blobs) items[items.size() - rows.size() + i] = of_row.blob;
  }
  return items;
}

void MindRecordSource::StartRows(const RowPositions& wanted) const {
  if (columns_.needs_scalars() || columns_.needs_blobs()) reader_.Start(ItemsOf(wanted.positions));
}

// On an error the rows before it are there.
absl::Status MindRecordSource::ReadParts(const RowPositions& wanted, Parts& parts) const {
  const bool scalars = columns_.needs_scalars();
  const bool blobs = columns_.needs_blobs();
  const size_t count = wanted.positions.size();
  const absl::InlinedVector<uint64_t, 2> items = ItemsOf(wanted.positions);
  parts.contents.resize(items.size());
  absl::Status wrong;
  const size_t read = reader_.Read(items, absl::MakeSpan(parts.contents), wrong);
  if (read == items.size()) {
    parts.Take(count, scalars, blobs);
    return absl::OkStatus();
  }
  if (scalars && blobs && read < count) {
    // The blobs of the rows before it were not read.
    if (read > 0) HEADRACE_RETURN_IF_ERROR(ReadParts({wanted.epoch, wanted.positions.first(read)}, parts));
    return wrong;
  }
  parts.Take(scalars && blobs ? read - count : read, scalars, blobs);
  return wrong;
}

absl::Status MindRecordSource::Read(const RowPosition& wanted, Block& block) const {
  return ReadOne(*this, wanted, block);
}

// Names the page and the byte where the damaged part of the row begins.
absl::Status MindRecordSource::Located(const MindDamage& damage, uint64_t row) const {
  const MindTable::RowItems items = reader_.table().ItemsOf(row);
  const MindTable::Place place = reader_.table().PlaceOf(damage.in_blob ? items.blob : items.scalars);
  absl::Status located = Reworded(damage.status, Cat(damage.status.message(), " (in page ", place.page, ")"));
  const Provenance provenance = {reader_.Path(place.file), static_cast<int64_t>(place.row), place.offset};
  AddErrorField(located, ErrorField::kFile, DescribeProvenance(provenance));
  return located;
}

absl::Status MindRecordSource::ReadRows(const RowPositions& wanted, Block& block) const {
  Parts parts;
  absl::Status wrong = ReadParts(wanted, parts);
  if (parts.rows.empty()) return wrong;
  MindDamage damage;
  const size_t good = columns_.Make(parts.rows, block.columns, damage);
  if (!damage.status.ok()) wrong = Located(damage, wanted.positions[good]);
  Provenance provenance;
  uint64_t file = 0;
  for (size_t i = 0; i < good; ++i) {
    const uint64_t row = wanted.positions[i];
    const RandomAccessReader::Location location = reader_.LocationOf(reader_.table().ItemsOf(row).scalars);
    if (provenance.file == nullptr || location.file != file) provenance.file = reader_.Path(location.file);
    file = location.file;
    provenance.record = location.record;
    provenance.offset = location.offset;
    block.provenances.push_back(provenance);
    block.ids.push_back({wanted.epoch, row, false, parts.changed[i]});
  }
  return wrong;
}

void MindRecordSource::Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const {
  id = {epoch, position};
  provenance = ProvenanceOf(position);
}

}  // namespace headrace
