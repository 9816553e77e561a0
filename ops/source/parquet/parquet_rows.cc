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
    if (column.stacked() || column.rows() < 2) continue;
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

}  // namespace

ParquetRows::ParquetRows(std::unique_ptr<ParquetFiles> files, int64_t most_bytes, Fingerprint fingerprint)
    : files_(std::move(files)),
      cache_(files_.get(), most_bytes),
      fingerprint_(std::move(fingerprint)),
      paths_(PathsOf(files_->table())) {}

absl::Status ParquetRows::Read(const RowPosition& wanted, Block& block) const { return ReadOne(*this, wanted, block); }

absl::Status ParquetRows::ReadRows(const RowPositions& wanted, Block& block) const {
  const absl::Span<const uint64_t> positions = wanted.positions;
  const std::vector<ParquetTable::Group>& groups = files_->table().groups();
  absl::Status status;
  for (size_t first = 0; first < positions.size() && status.ok();) {
    const size_t group = files_->table().GroupOf(positions[first]);
    const ParquetTable::Group& of = groups[group];
    size_t end = first + 1;
    while (end < positions.size() && positions[end] >= of.first && positions[end] - of.first < of.rows) ++end;
    status = AddRows(wanted.epoch, group, positions.subspan(first, end - first), block);
    first = end;
  }
  StackRows(block);
  return status;
}

absl::Status ParquetRows::AddRows(uint64_t epoch, size_t group, absl::Span<const uint64_t> positions,
                                  Block& block) const {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const DecodedGroup> decoded, cache_.Get(group));
  const ParquetTable::Group& of = files_->table().groups()[group];
  const std::shared_ptr<const std::string>& path = paths_[of.file];
  for (size_t i = 0; i < positions.size();) {
    const uint64_t first = positions[i] - of.first;
    const ParquetRun& run = decoded->RunOf(first);
    size_t count = 1;
    while (i + count < positions.size() && positions[i + count] == positions[i] + count &&
           first + count < run.first + run.rows) {
      ++count;
    }
    const auto before = static_cast<size_t>(block.rows());
    absl::Status added = AddRun(*decoded, first, count, before == 0 && count == positions.size(), block);
    const size_t rows = (block.columns.empty() ? 0 : static_cast<size_t>(block.columns[0].rows())) - before;
    const uint64_t* const numbers = positions.data() + i;
    AppendMade(block.ids, rows,
               [=, changed = decoded->opened.changed](size_t k) { return RowId{epoch, numbers[k], false, changed}; });
    block.provenances.AppendNumbered(path, rows,
                                     [=, before = decoded->opened.first_row](size_t k) { return numbers[k] - before; });
    if (!added.ok()) {
      const uint64_t failed = positions[i + rows] - decoded->opened.first_row;
      AddErrorField(added, ErrorField::kFile, DescribeProvenance({path, static_cast<int64_t>(failed), -1}));
      return added;
    }
    i += count;
  }
  return absl::OkStatus();
}

absl::Status ParquetRows::AddRun(const DecodedGroup& decoded, uint64_t first, size_t count, bool alone,
                                 Block& block) const {
  const ParquetRun& run = decoded.RunOf(first);
  ParquetColumns::Made made;
  absl::Status wrong;
  const size_t rows =
      decoded.opened.columns->Make(run.batch.get(), static_cast<int64_t>(first - run.first), count, made, wrong);
  if (rows == 0) return wrong;
  if (alone) {
    for (BlockColumn& column : made) block.columns.push_back(std::move(column));
    return wrong;
  }
  if (block.columns.empty()) block.columns.resize(made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    for (size_t k = 0; k < rows; ++k) block.columns[i].Append(made[i].TakeRow(static_cast<int>(k)));
  }
  return wrong;
}

void ParquetRows::Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const {
  const ParquetTable& table = files_->table();
  const uint64_t file = table.groups()[table.GroupOf(position)].file;
  id = {epoch, position};
  provenance = {paths_[file], static_cast<int64_t>(position - table.files()[file].first), -1};
}

}  // namespace headrace
