#include "ops/read_inputs.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>
#include <vector>

#include "ops/gather_rows.h"

namespace headrace {
namespace {

// The rows of one input and epoch.
struct Part {
  size_t input;
  uint64_t epoch;
  std::vector<uint64_t> positions = {};
  std::vector<uint64_t> occurrence_keys = {};
  Block block = {};
  absl::Status status = {};
  int used = 0;
};

}  // namespace

absl::Status ReadRowsOfInputs(absl::Span<const RowOfInput> rows, ReadInput read, Block& block) {
  std::deque<Part> parts;
  std::vector<Part*> part_of;
  for (const auto& [input, row] : rows) {
    // Epochs of an input follow each other, so that the last of its parts is the one.
    const auto same = [input = input](const Part& part) { return part.input == input; };
    const auto last = std::find_if(parts.rbegin(), parts.rend(), same);
    const bool fits = last != parts.rend() && last->epoch == row.epoch;
    Part& part = fits ? *last : parts.emplace_back(Part{input, row.epoch});
    part.positions.push_back(row.position);
    part.occurrence_keys.push_back(row.occurrence_key);
    part_of.push_back(&part);
  }
  if (parts.size() == 1)
    return read(parts[0].input, {parts[0].epoch, parts[0].positions, parts[0].occurrence_keys}, block);
  for (Part& part : parts)
    part.status = read(part.input, {part.epoch, part.positions, part.occurrence_keys}, part.block);
  absl::Status failed;
  std::vector<RowInBlock> found;
  for (Part* const part : part_of) {
    if (part->used == part->block.rows()) {
      failed = std::move(part->status);
      break;
    }
    found.push_back({&part->block, part->used++});
  }
  if (found.empty()) return failed;
  const Message joined = GatherRows(found);
  block.ids = std::move(joined->ids);
  block.provenances = std::move(joined->provenances);
  block.columns = std::move(joined->columns);
  return failed;
}

NumbersOfInputs::NumbersOfInputs(const IndexedSources& inputs) : inputs_(inputs) {
  uint64_t end = 0;
  for (const auto& input : inputs) ends_.push_back(end += input->numbers());
}

void NumbersOfInputs::Find(absl::Span<const RowOfInput> rows, absl::Span<uint64_t> numbers) const {
  const auto of_one = [&](size_t a, size_t b) {
    return rows[a].input == rows[b].input && rows[a].row.epoch == rows[b].row.epoch;
  };
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(rows[a].input, rows[a].row.epoch) < std::pair(rows[b].input, rows[b].row.epoch);
  });
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && of_one(order[begin], order[end])) ++end;
    FindOfOne(rows, absl::MakeConstSpan(order).subspan(begin, end - begin), numbers);
    begin = end;
  }
}

void NumbersOfInputs::FindOfOne(absl::Span<const RowOfInput> rows, absl::Span<const size_t> which,
                                absl::Span<uint64_t> numbers) const {
  std::vector<uint64_t> found;
  for (const size_t i : which) found.push_back(rows[i].row.position);
  const RowOfInput& first = rows[which[0]];
  inputs_[first.input]->FindNumbers(first.row.epoch, absl::MakeSpan(found));
  const uint64_t before = first.input == 0 ? 0 : ends_[first.input - 1];
  for (size_t i = 0; i < which.size(); ++i) numbers[which[i]] = before + found[i];
}

void AppendReadRow(Block& row, Block& block) {
  block.ids.push_back(row.ids[0]);
  block.provenances.Append(row.provenances, 0);
  if (block.columns.empty()) block.columns.resize(row.columns.size());
  for (size_t i = 0; i < row.columns.size(); ++i) block.columns[i].Append(row.columns[i].TakeRow(0));
}

}  // namespace headrace
