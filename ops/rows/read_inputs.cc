#include "ops/rows/read_inputs.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "ops/rows/gather_rows.h"

namespace headrace {
namespace {

using Indices = std::vector<size_t>;

// Of the rows of one input and epoch each, in their order.
std::vector<Indices> OfOneInputAndEpoch(absl::Span<const RowOfInput> rows) {
  const auto key = [&](size_t i) { return std::pair(rows[i].input, rows[i].row.epoch); };
  Indices order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  std::vector<Indices> groups;
  for (const size_t i : order) {
    if (groups.empty() || key(groups.back()[0]) != key(i)) groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

struct ReadPart {
  Block block;
  absl::Status status;
};

absl::Status ReadPartOf(absl::Span<const RowOfInput> rows, const Indices& which, ReadInput read, Block& block) {
  const RowOfInput& first = rows[which[0]];
  std::vector<uint64_t> positions, occurrence_keys;
  for (const size_t i : which) {
    positions.push_back(rows[i].row.position);
    occurrence_keys.push_back(rows[i].row.occurrence_key);
  }
  return read(first.input, {first.row.epoch, positions, occurrence_keys}, block);
}

}  // namespace

absl::Status ReadRowsOfInputs(absl::Span<const RowOfInput> rows, ReadInput read, Block& block) {
  const std::vector<Indices> groups = OfOneInputAndEpoch(rows);
  if (groups.size() == 1) return ReadPartOf(rows, groups[0], read, block);
  std::vector<ReadPart> parts(groups.size());
  std::vector<std::pair<ReadPart*, int>> places(rows.size());  // and the row in the part's block
  for (size_t part = 0; part < groups.size(); ++part) {
    parts[part].status = ReadPartOf(rows, groups[part], read, parts[part].block);
    int row = 0;
    for (const size_t i : groups[part]) places[i] = {&parts[part], row++};
  }
  absl::Status failed;
  std::vector<RowInBlock> found;
  for (const auto& [part, row] : places) {
    if (row == part->block.rows()) {
      failed = std::move(part->status);
      break;
    }
    found.push_back({&part->block, row});
  }
  if (found.empty()) return failed;
  const Message joined = GatherRows(found);
  block.ids = std::move(joined->ids);
  block.provenances = std::move(joined->provenances);
  block.columns = std::move(joined->columns);
  return failed;
}

void StartRowsOfInputs(const IndexedSources& inputs, absl::Span<const RowOfInput> rows) {
  for (const Indices& which : OfOneInputAndEpoch(rows)) {
    const RowOfInput& first = rows[which[0]];
    std::vector<uint64_t> positions;
    for (const size_t i : which) positions.push_back(rows[i].row.position);
    inputs[first.input]->StartRows({first.row.epoch, positions});
  }
}

absl::Status CheckInputsUnchanged(const IndexedSources& inputs) {
  for (const auto& input : inputs) HEADRACE_RETURN_IF_ERROR(input->CheckUnchanged());
  return absl::OkStatus();
}

NumbersOfInputs::NumbersOfInputs(const IndexedSources& inputs) : inputs_(inputs) {
  uint64_t end = 0;
  for (const auto& input : inputs) ends_.push_back(end += input->numbers());
}

void NumbersOfInputs::Find(absl::Span<const RowOfInput> rows, absl::Span<uint64_t> numbers) const {
  for (const Indices& which : OfOneInputAndEpoch(rows)) {
    std::vector<uint64_t> found;
    for (const size_t i : which) found.push_back(rows[i].row.position);
    const RowOfInput& first = rows[which[0]];
    inputs_[first.input]->FindNumbers(first.row.epoch, absl::MakeSpan(found));
    const uint64_t before = first.input == 0 ? 0 : ends_[first.input - 1];
    for (size_t i = 0; i < which.size(); ++i) numbers[which[i]] = before + found[i];
  }
}

IndexedProperties PropertiesTogether(const IndexedSources& inputs) {
  IndexedProperties all;
  for (const auto& input : inputs) {
    const IndexedProperties each = input->properties();
    all.begins |= each.begins;
    all.asks_user |= each.asks_user;
    all.far_reads = std::max(all.far_reads, each.far_reads);
    all.recurring_orders = std::max(all.recurring_orders, each.recurring_orders);
  }
  return all;
}

void AppendReadRow(Block& row, Block& block) {
  block.ids.push_back(row.ids[0]);
  block.provenances.Append(row.provenances, 0);
  if (block.columns.empty()) block.columns.resize(row.columns.size());
  for (size_t i = 0; i < row.columns.size(); ++i) block.columns[i].Append(row.columns[i].TakeRow(0));
}

}  // namespace headrace
