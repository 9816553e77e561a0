#include "ops/source/lmdb/lmdb_source.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "core/error.h"
#include "ops/source/item_columns.h"
#include "ops/source/read_one.h"

namespace headrace {

// What was read of some rows: the content of each item.
struct LmdbSource::Entries {
  absl::InlinedVector<uint64_t, 2> items;
  absl::InlinedVector<RandomAccessReader::Content, 2> contents;
};

LmdbSource::LmdbSource(const FileSystem* files, std::shared_ptr<const LmdbTable> table, std::vector<LmdbColumn> columns,
                       Fingerprint fingerprint)
    : reader_(files, std::move(table)),
      columns_(std::move(columns)),
      values_(std::find(columns_.begin(), columns_.end(), LmdbColumn::kValue) != columns_.end()),
      fingerprint_(std::move(fingerprint)) {}

absl::Status LmdbSource::Read(const RowPosition& wanted, Block& block) const { return ReadOne(*this, wanted, block); }

Provenance LmdbSource::ProvenanceOf(uint64_t row) const {
  const RandomAccessReader::Location location = reader_.LocationOf(2 * row);
  return {reader_.Path(location.file), location.record, location.offset};
}

// All entries, then all values that have pages of their own.
absl::InlinedVector<uint64_t, 2> LmdbSource::ItemsOf(absl::Span<const uint64_t> rows) const {
  absl::InlinedVector<uint64_t, 2> items;
  for (const uint64_t row : rows) items.push_back(2 * row);
  for (const uint64_t row : rows) {
    if (values_ && reader_.table().PlaceOf(row).value_page != 0) items.push_back(2 * row + 1);
  }
  return items;
}

void LmdbSource::StartRows(const RowPositions& wanted) const { reader_.Start(ItemsOf(wanted.positions)); }

size_t LmdbSource::ReadEntries(absl::Span<const uint64_t> rows, Entries& entries, absl::Status& wrong) const {
  size_t count = rows.size();
  while (count > 0) {
    entries.items = ItemsOf(rows.first(count));
    entries.contents.clear();
    entries.contents.resize(entries.items.size());
    absl::Status failed;
    const size_t read = reader_.Read(entries.items, absl::MakeSpan(entries.contents), failed);
    if (read == entries.items.size()) return count;
    // Values of the rows before it were not all read.
    wrong = std::move(failed);
    const auto row =
        std::find(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count), entries.items[read] / 2);
    count = static_cast<size_t>(row - rows.begin());
  }
  return 0;
}

absl::Status LmdbSource::ReadRows(const RowPositions& wanted, Block& block) const {
  Entries entries;
  absl::Status wrong;
  const size_t count = ReadEntries(wanted.positions, entries, wrong);
  HEADRACE_RETURN_IF_ERROR(reader_.CheckUnchanged());
  if (count == 0) return wrong;
  absl::InlinedVector<Item, 1> keys(count), values(count);
  size_t next_value = count;
  for (size_t i = 0; i < count; ++i) {
    const LmdbTable::Place place = reader_.table().PlaceOf(wanted.positions[i]);
    const RandomAccessReader::Content& entry = entries.contents[i];
    keys[i].buffer = values[i].buffer = &entry.buffer;
    keys[i].bytes = entry.bytes.substr(LmdbEntry::kHead, place.key_bytes);
    values[i].bytes = entry.bytes.substr(LmdbEntry::kHead + place.key_bytes);
    bool changed = entry.changed;
    if (values_ && place.value_page != 0) {
      const RandomAccessReader::Content& value = entries.contents[next_value++];
      values[i].buffer = &value.buffer;
      values[i].bytes = value.bytes;
      changed = changed || value.changed;
    }
    block.ids.push_back({wanted.epoch, wanted.positions[i], false, changed});
    block.provenances.push_back(ProvenanceOf(wanted.positions[i]));
  }
  for (const LmdbColumn column : columns_) {
    absl::StatusOr<BlockColumn> made = BytesColumn(column == LmdbColumn::kKey ? keys : values);
    if (!made.ok()) {
      block.columns.clear();
      block.DropRows();
      return std::move(made).status();
    }
    block.columns.push_back(*std::move(made));
  }
  return wrong;
}

void LmdbSource::Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const {
  id = {epoch, position};
  provenance = ProvenanceOf(position);
}

}  // namespace headrace
