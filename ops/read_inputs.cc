#include "ops/read_inputs.h"

#include <algorithm>
#include <deque>
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

uint64_t NumbersTogether(const IndexedSources& inputs) {
  uint64_t numbers = 0;
  for (const auto& input : inputs) numbers += input->numbers();
  return numbers;
}

uint64_t NumberOfRow(const IndexedSources& inputs, const RowOfInput& row) {
  uint64_t number = row.row.position;
  inputs[row.input]->FindNumbers(row.row.epoch, absl::MakeSpan(&number, 1));
  for (size_t i = 0; i < row.input; ++i) number += inputs[i]->numbers();
  return number;
}

void AppendReadRow(Block& row, Block& block) {
  block.ids.push_back(row.ids[0]);
  block.provenances.Append(row.provenances, 0);
  if (block.columns.empty()) block.columns.resize(row.columns.size());
  for (size_t i = 0; i < row.columns.size(); ++i) block.columns[i].Append(row.columns[i].TakeRow(0));
}

}  // namespace headrace
