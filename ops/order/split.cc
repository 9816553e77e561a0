#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/error.h"
#include "ops/order/drawn_part.h"
#include "ops/order/ordered_source.h"

namespace headrace {
namespace {

// Sums of decimal fractions are off by less.
constexpr double kTolerance = 1e-9;

// The position before which each part ends.
std::vector<uint64_t> Ends(const std::vector<double>& fractions, uint64_t rows) {
  std::vector<uint64_t> ends;
  double cumulated = 0;
  for (const double fraction : fractions) {
    cumulated += fraction;
    const double end = std::floor(cumulated * static_cast<double>(rows) + 0.5);
    ends.push_back(end < static_cast<double>(rows) ? static_cast<uint64_t>(end) : rows);
  }
  ends.back() = rows;
  return ends;
}

absl::StatusOr<std::unique_ptr<RowOrder>> MakeSplit(const OpArguments& arguments, uint64_t rows) {
  const std::vector<double> fractions = arguments.attributes.Floats("fractions");
  const std::vector<uint64_t> ends = Ends(fractions, rows);
  const auto begin_of = [&](size_t part) { return part == 0 ? 0 : ends[part - 1]; };
  for (size_t part = 0; part < ends.size(); ++part) {
    if (begin_of(part) < ends[part]) continue;
    return GraphError("part ", part, " would be empty: ", fractions[part], " of ", rows, " rows");
  }
  const auto part = static_cast<size_t>(arguments.attributes.Int("part"));
  return DrawPart(rows, arguments.seed, {.begin = begin_of(part), .end = ends[part]});
}

absl::StatusOr<ir::Schema> InferSplit(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  const std::vector<double> fractions = attributes.Floats("fractions");
  double sum = 0;
  for (const double fraction : fractions) sum += fraction;
  if (fractions.empty() || !(std::abs(sum - 1) <= kTolerance)) {
    return GraphError("fractions must sum to 1, for parts of all rows; the sum is ", sum);
  }
  if (static_cast<size_t>(attributes.Int("part")) >= fractions.size()) {
    return GraphError("part is ", attributes.Int("part"), " of ", fractions.size());
  }
  return inputs[0];
}

const OpRegistration split_registration(
    DrawnPartDeclaration({
        .name = "split",
        .summary = "Splits the rows into parts of random members, as for training and validation.",
        .doc = "Returns a dataset for each part. Every row is in one part, whatever is done to the parts "
               "afterwards: members depend on the seed and the number of rows alone, not on epochs, shards or "
               "iterate(seed=). A part keeps the order of the source, and where the source is shuffled, each part is. "
               "Of N rows the parts so far have floor(sum · N + ½), where sum is that of their fractions. Whole "
               "numbers are the rows of each part, as in torch's random_split, and must sum to len(dataset). Over maps "
               "the rows are split below them.\n"
               "Errors: fractions that do not sum to 1; counts that do not sum to the rows; a part without rows; an "
               "operator other than map, project and "
               "rename between it and a source with random access (with take, skip, concat and zip of unshuffled "
               "ones).",
        .attributes = {{.name = "fractions",
                        .type = ir::AttributeType::kFloats,
                        .doc = "The parts' shares of the rows, whose sum is 1, or their numbers of rows.",
                        .minimum = 0.0,
                        .exclusive_minimum = true,
                        .length = ir::ListLength{}},
                       SeedOfMembers(),
                       {.name = "part", .doc = "Which of the parts.", .minimum = 0.0, .hidden = true}},
        .python = {.parameters = "fractions: Sequence[float], seed: int = 0",
                   .docs = {{"fractions"}, {"seed"}},
                   .returns = "tuple[Dataset, ...]"},
        .example = "ds.split([0.8, 0.2])",
        .infer = InferSplit,
    }),
    OrderFactories(MakeSplit));

}  // namespace
}  // namespace headrace
