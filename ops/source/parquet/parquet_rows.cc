#include "ops/source/parquet/parquet_rows.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "ops/source/read_one.h"

namespace headrace {
namespace {

std::vector<std::shared_ptr<const std::string>> PathsOf(const ParquetTable& table) {
  std::vector<std::shared_ptr<const std::string>> paths;
  for (const ParquetTable::File& file : table.files()) paths.push_back(std::make_shared<const std::string>(file.path));
  return paths;
}

// A copy that keeps no row group in memory; the row itself if there is no memory for one.
Tensor CopyOfRow(Tensor row) {
  absl::StatusOr<Tensor> copy = row;
  if (!IsVariableLength(row.dtype())) {
    copy = Tensor::Allocate(row.dtype(), row.shape());
    if (copy.ok()) row.CopyTo(copy->mutable_raw());
  } else if (row.rank() == 0) {
    copy = Tensor::CopyBytes(row.dtype(), row.bytes_value());
  } else {
    std::vector<std::string_view> elements;
    for (int64_t i = 0; i < row.elements(); ++i) elements.push_back(row.bytes_at(i));
    copy = Tensor::CopyBytesArray(row.dtype(), row.shape(), elements);
  }
  return copy.ok() ? *std::move(copy) : row;
}

// Rows of one type and shape, in one buffer for each column.
void StackRows(Block& block) {
  for (BlockColumn& column : block.columns) {
    if (column.stacked() || column.ragged() || column.rows() < 2) continue;
    std::vector<Tensor> rows;
    for (int i = 0; i < column.rows(); ++i) rows.push_back(column.row(i));
    const bool alike = std::all_of(rows.begin(), rows.end(), [&](const Tensor& row) {
      return row.shape() == rows[0].shape() && (!IsVariableLength(row.dtype()) || row.rank() == 0);
    });
    absl::StatusOr<Tensor> stack = alike ? Stack(rows) : absl::StatusOr<Tensor>(Tensor());
    if (stack.ok() && stack->valid()) {
      column = BlockColumn::Stacked(*std::move(stack));
      continue;
    }
    for (size_t i = 0; i < rows.size(); ++i) column.SetRow(static_cast<int>(i), CopyOfRow(std::move(rows[i])));
  }
}

// Whether they follow each other in one batch, so that views of them exist.
bool AreSideBySide(absl::Span<const ParquetColumns::Place> places) {
  for (size_t i = 1; i < places.size(); ++i) {
    const bool next = places[i].batch == places[0].batch && places[i].row == places[0].row + static_cast<int64_t>(i);
    if (!next || places[i].columns != places[0].columns) return false;
  }
  return true;
}

}  // namespace

ParquetRows::ParquetRows(std::unique_ptr<ParquetFiles> files, int64_t most_bytes, Fingerprint fingerprint)
    : files_(std::move(files)),
      cache_(files_.get(), most_bytes),
      fingerprint_(std::move(fingerprint)),
      paths_(PathsOf(files_->table())) {}

absl::Status ParquetRows::Read(const RowPosition& wanted, Block& block) const { return ReadOne(*this, wanted, block); }

// Rows up to the first whose row group cannot be decoded.
absl::Status ParquetRows::Find(absl::Span<const uint64_t> positions, FoundRows& found) const {
  const ParquetTable& table = files_->table();
  const DecodedGroup* decoded = nullptr;
  ParquetTable::Group of = {};
  for (const uint64_t position : positions) {
    if (decoded == nullptr || position < of.first || position - of.first >= of.rows) {
      const size_t group = table.GroupOf(position);
      of = table.groups()[group];
      std::shared_ptr<const DecodedGroup>& held = found.held[group];
      if (held == nullptr) {
        HEADRACE_ASSIGN_OR_RETURN(held, cache_.Get(group));
      }
      decoded = held.get();
    }
    const uint64_t row = position - of.first;
    const ParquetRun& run = decoded->RunOf(row);
    found.groups.push_back(decoded);
    found.places.push_back({decoded->opened.columns.get(), run.batch.get(), static_cast<int64_t>(row - run.first)});
  }
  return absl::OkStatus();
}

// Names the rows that were made; those of one file at once.
void ParquetRows::NameMade(uint64_t epoch, absl::Span<const uint64_t> positions, const FoundRows& found,
                           Block& block) const {
  const auto& groups = found.groups;
  AppendMade(block.ids, positions.size(),
             [&](size_t i) { return RowId{epoch, positions[i], false, groups[i]->opened.changed}; });
  for (size_t i = 0; i < positions.size();) {
    const OpenedParquet& opened = groups[i]->opened;
    size_t end = i + 1;
    while (end < positions.size() && groups[end]->opened.number == opened.number) ++end;
    block.provenances.AppendNumbered(paths_[opened.number], end - i,
                                     [&, i](size_t k) { return positions[i + k] - opened.first_row; });
    i = end;
  }
}

absl::Status ParquetRows::ReadRows(const RowPositions& wanted, Block& block) const {
  const absl::Span<const uint64_t> positions = wanted.positions;
  FoundRows found;
  const absl::Status status = Find(positions, found);
  if (found.places.empty()) return status;
  ParquetColumns::Made made;
  absl::Status wrong;
  const size_t rows =
      AreSideBySide(found.places)
          ? found.places[0].columns->Make(found.places[0].batch, found.places[0].row, found.places.size(), made, wrong)
          : ParquetColumns::Gather(found.places, made, wrong);
  for (BlockColumn& column : made) block.columns.push_back(std::move(column));
  NameMade(wanted.epoch, positions.subspan(0, rows), found, block);
  StackRows(block);
  if (wrong.ok()) return status;
  const OpenedParquet& opened = found.groups[rows]->opened;
  const Provenance failed{paths_[opened.number], static_cast<int64_t>(positions[rows] - opened.first_row), -1};
  AddErrorField(wrong, ErrorField::kFile, DescribeProvenance(failed));
  return wrong;
}

void ParquetRows::Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const {
  const ParquetTable& table = files_->table();
  const uint64_t file = table.groups()[table.GroupOf(position)].file;
  id = {epoch, position};
  provenance = {paths_[file], static_cast<int64_t>(position - table.files()[file].first), -1};
}

}  // namespace headrace
