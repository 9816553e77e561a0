#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/seeded_hash.h"
#include "ops/order/ordered_source.h"

namespace headrace {
namespace {

class Selection : public RowOrder {
 public:
  explicit Selection(std::vector<int64_t> rows) : rows_(std::move(rows)) {
    std::unordered_map<int64_t, uint64_t, SeededHash> earlier;
    for (const int64_t row : rows_) occurrences_.push_back(earlier[row]++);
    // Without a row that recurs there is nothing to keep.
    if (earlier.size() == rows_.size()) occurrences_ = {};
  }

  uint64_t size() const override { return rows_.size(); }
  bool recurs() const override { return !occurrences_.empty(); }
  void Find(uint64_t /*epoch*/, absl::Span<uint64_t> positions, absl::Span<uint64_t> occurrences) const override {
    for (size_t i = 0; i < positions.size(); ++i) {
      const uint64_t position = positions[i];
      if (!occurrences_.empty()) occurrences[i] = occurrences_[position];
      positions[i] = static_cast<uint64_t>(rows_[position]);
    }
  }

 private:
  const std::vector<int64_t> rows_;
  std::vector<uint64_t> occurrences_;
};

absl::StatusOr<std::unique_ptr<RowOrder>> MakeSelect(const OpArguments& arguments, uint64_t rows) {
  std::vector<int64_t> chosen = arguments.attributes.Ints("indices");
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (static_cast<uint64_t>(chosen[i]) < rows) continue;
    return GraphError("indices[", i, "] is ", chosen[i], ", but there are ", rows, " rows, numbered from 0");
  }
  return std::make_unique<Selection>(std::move(chosen));
}

const OpRegistration select_registration(
    {
        .name = "select",
        .version = 2,
        .role = ir::Role::kStream,
        .summary = "Gives the rows with the given numbers, in the order given.",
        .doc = "Rows are numbered from 0 in the order that the source has without shuffling; where the source is "
               "shuffled, the chosen rows are. A row may be given several times: each time it has draws of its own. "
               "Over maps the rows are chosen below them, so that only chosen rows are read. hr.Subset(ds, indices) "
               "is the same.\n"
               "Errors: an index that is negative or not below the number of rows; an operator other than map, project "
               "and rename between it and a source with random access (with take, skip, concat and zip of unshuffled "
               "ones).",
        .attributes = {{.name = "indices",
                        .type = ir::AttributeType::kInts,
                        .doc = "The numbers of the rows.",
                        .minimum = 0,
                        .length = ir::ListLength{.least = 0}}},
        .traits = {.indexed = true, .light = true, .by_number = true},
        .python_module = "dataset",
        .python = {.parameters = "indices: Iterable[int]",
                   .docs = {{"indices", "Whole numbers from 0 on: a list, a range, or an array of one axis."}}},
        .example = "ds.select([0, 2, 5])",
        .infer = ir::PassesSchema(),
        .reads = ir::PassesColumns(),
        .most_rows = [](const ir::Attributes& attributes, absl::Span<const std::optional<uint64_t>>)
            -> std::optional<uint64_t> { return attributes.Ints("indices").size(); },
    },
    OrderFactories(MakeSelect));

}  // namespace
}  // namespace headrace
