#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "core/stop_signal.h"
#include "ops/order/alias_table.h"
#include "ops/order/drawn_by_values.h"
#include "ops/order/drawn_order.h"
#include "ops/order/ordered_source.h"
#include "ops/order/values_by_number.h"

namespace headrace {
namespace {

DrawRows DrawWithReplacement(absl::Span<const double> weights, uint64_t stream) {
  return [table = AliasTable(weights), stream](uint64_t epoch, absl::Span<uint32_t> rows) {
    const uint64_t key = RowRandom::KeyOf(stream, epoch);
    for (uint64_t i = 0; i < rows.size(); ++i) {
      if (i % kDrawsAtOnce == 0 && StopSignal::Raised()) return;
      RowRandom random(key, i);
      rows[i] = table.Draw(random);
    }
  };
}

// The rows with the smallest of exponential numbers whose rates are the weights, in rising order: each comes next with
// its share of the weights that are left (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006).
// Compares logarithms, which tell apart the numbers of weights of any size.
DrawRows DrawWithoutReplacement(absl::Span<const double> weights, uint64_t drawable, uint64_t stream) {
  std::vector<double> logs(weights.begin(), weights.end());
  for (double& each : logs) each = std::log(each);
  return [logs = std::move(logs), drawable, stream](uint64_t epoch, absl::Span<uint32_t> rows) {
    const uint64_t key = RowRandom::KeyOf(stream, epoch);
    std::vector<std::pair<double, uint32_t>> arrivals;
    arrivals.reserve(drawable);
    for (uint32_t row = 0; row < logs.size(); ++row) {
      if (row % kDrawsAtOnce == 0 && StopSignal::Raised()) return;
      if (std::isinf(logs[row])) continue;
      arrivals.emplace_back(std::log(-std::log1p(-RowRandom(key, row).Uniform())) - logs[row], row);
    }
    const auto end = arrivals.begin() + static_cast<std::ptrdiff_t>(rows.size());
    std::nth_element(arrivals.begin(), end, arrivals.end());
    std::sort(arrivals.begin(), end);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = arrivals[i].second;
  };
}

absl::Status CheckWeights(absl::Span<const double> weights) {
  for (size_t i = 0; i < weights.size(); ++i) {
    if (std::isfinite(weights[i]) && weights[i] >= 0) continue;
    return GraphError("weights[", i, "] is ", weights[i], "; weights are finite numbers, 0 or more");
  }
  return absl::OkStatus();
}

absl::StatusOr<DrawRows> DrawsBy(absl::Span<const double> weights, const DrawnSize& size, bool replacement,
                                 uint64_t stream) {
  const auto drawable =
      static_cast<uint64_t>(std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0; }));
  if (drawable == 0) return GraphError("has no weight above 0, so no row could be drawn");
  if (replacement) return DrawWithReplacement(weights, stream);
  if (size.positions > drawable) {
    return GraphError("draws ", size.positions, " rows without replacement, but ", drawable, " of ", weights.size(),
                      " rows have a weight above 0; give a smaller n");
  }
  return DrawWithoutReplacement(weights, drawable, stream);
}

absl::StatusOr<std::unique_ptr<RowOrder>> MakeWeighted(const OpArguments& arguments, const IndexedSource& input,
                                                       const IndexedSource& values) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<double> weights, ReadNumbers(arguments, input, values, "weights"));
  HEADRACE_RETURN_IF_ERROR(CheckWeights(weights));
  const bool replacement = arguments.attributes.Bool("replacement");
  const auto draws = [replacement, stream = RowRandom::StreamOf(arguments.seed, arguments.salt)](
                         absl::Span<const double> of_rows, const DrawnSize& size) {
    return DrawsBy(of_rows, size, replacement, stream);
  };
  return MakeOrderByValues<double>(arguments, input, std::move(weights), {DrawnSizes(arguments), draws});
}

const OpRegistration weighted_registration(
    {
        .name = "Weighted",
        .version = 2,
        .role = ir::Role::kStream,
        .summary = "Draws rows with given weights.",
        .doc =
            "With replacement each of the n draws takes row i with probability weights[i] / sum(weights), whatever "
            "came before. Without it, each draw takes one of the rows that are left, with its share of their "
            "weights. A row of weight 0 never comes. Each epoch has new draws; a row that comes again in an epoch "
            "has random numbers of its own. Weights are by the rows' numbers in the order that the source has "
            "without shuffling; maps may stand between it and the source, and a column is one that the source gives, "
            "below them. Above another order, such as a sampler's, a list of weights is by the places in that order, "
            "and a column's weights follow their rows.\n"
            "Errors: a weight that is negative or not finite; no weight above 0; another number of weights than of "
            "rows; without replacement, n above the number of rows with a weight above 0.",
        .min_inputs = 2,
        .max_inputs = 2,
        .attributes = {DeclareDrawnRows(),
                       {.name = "replacement",
                        .type = ir::AttributeType::kBool,
                        .doc = "Whether a row may be drawn several times in an epoch.",
                        .default_value = "True"},
                       DeclareValuesColumn(),
                       DeclareFollowsRows()},
        .traits = {.random = true, .indexed = true, .light = true, .by_number = true},
        .python_module = "samplers",
        .python = {.parameters = "weights: Any, n: int | None = None, replacement: bool = True, *, "
                                 "seed: int | None = None, name: str | None = None",
                   .docs = {{"weights",
                             "A number for each row, as a list or an array, or the name of the column of the listing "
                             "that has them; of any sum."},
                            {"n"},
                            {"replacement"},
                            {"seed"},
                            {"name"}}},
        .example = "ds.sample(hr.Weighted([3, 1, 0.5], n=1000))",
        .infer = [](const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs)
            -> absl::StatusOr<ir::Schema> { return InferWithValues(attributes, inputs, "weights", false); },
        .reads = ReadsValues,
        .most_rows = MostDrawnRows,
    },
    OrderFactories(MakeWeighted, {.new_each_epoch = true, .of_any_size = true}));

}  // namespace
}  // namespace headrace
