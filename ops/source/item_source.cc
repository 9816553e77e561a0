#include "ops/source/item_source.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "ops/source/read_one.h"

namespace headrace {
namespace {

using Items = absl::InlinedVector<Item, 1>;

}  // namespace

ItemSource::ItemSource(std::unique_ptr<const RandomAccessReader> reader, std::unique_ptr<const ItemColumns> columns,
                       std::vector<int> fields, Fingerprint fingerprint)
    : reader_(std::move(reader)),
      columns_(std::move(columns)),
      fields_(std::move(fields)),
      fingerprint_(std::move(fingerprint)),
      needs_bytes_(
          std::any_of(fields_.begin(), fields_.end(), [this](int field) { return columns_->NeedsBytes(field); })) {}

absl::Status ItemSource::Read(const RowPosition& wanted, Block& block) const { return ReadOne(*this, wanted, block); }

absl::Status ItemSource::ReadRows(const RowPositions& wanted, Block& block) const {
  const absl::Span<const uint64_t> positions = wanted.positions;
  absl::Status wrong;
  absl::InlinedVector<RandomAccessReader::Content, 1> contents(positions.size());
  const size_t read = needs_bytes_ ? reader_->Read(positions, absl::MakeSpan(contents), wrong) : positions.size();
  Items items;
  items.reserve(read);
  Provenance provenance;
  uint64_t file = 0;
  for (size_t i = 0; i < read; ++i) {
    const RandomAccessReader::Location location = reader_->LocationOf(positions[i]);
    if (provenance.file == nullptr || location.file != file) provenance.file = reader_->Path(location.file);
    file = location.file;
    provenance.record = location.record;
    provenance.offset = location.offset;
    items.push_back({positions[i], provenance.file.get(), &contents[i].buffer, contents[i].bytes});
    if (absl::Status bad = columns_->Check(items.back()); !bad.ok()) {
      wrong = std::move(bad);
      AddErrorField(wrong, ErrorField::kFile, DescribeProvenance(provenance));
      items.pop_back();
      break;
    }
    // Keeps the path, which the item only points to.
    block.provenances.push_back(provenance);
    block.ids.push_back({wanted.epoch, positions[i], false, contents[i].changed});
  }
  if (items.empty()) return wrong;
  for (const int field : fields_) {
    absl::StatusOr<BlockColumn> column = columns_->Make(field, items);
    if (!column.ok()) {
      block.columns.clear();
      block.DropRows();
      return std::move(column).status();
    }
    block.columns.push_back(*std::move(column));
  }
  return wrong;
}

IndexedProperties ItemSource::properties() const {
  IndexedProperties properties;
  if (needs_bytes_) properties.far_reads = reader_->most_outstanding();
  return properties;
}

void ItemSource::StartRows(const RowPositions& wanted) const {
  if (needs_bytes_) reader_->Start(wanted.positions);
}

void ItemSource::Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const {
  const RandomAccessReader::Location location = reader_->LocationOf(position);
  id = {epoch, position};
  provenance = {reader_->Path(location.file), location.record, location.offset};
}

}  // namespace headrace
