#include "engine/plan/plan_checks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "engine/operator/listed_rows.h"
#include "engine/plan/batch_numbers.h"
#include "ir/graph.pb.h"
#include "ir/node_traits.h"

namespace headrace {
namespace {

// The node nearest to the sources whose number of rows is unknown, given that the number of `root` is.
const PlanNode& FirstUncounted(const PlanNode& root) {
  for (const auto& input : root.inputs) {
    if (input->properties.cardinality.kind == Cardinality::Kind::kUnknown) return FirstUncounted(*input);
  }
  return root;
}

absl::Status CheckSharded(const PlanNode& node, const ShardAssignment& shard) {
  if (node.properties.traits.side_by_side) {
    const std::string& op = node.arguments.node->op();
    for (const auto& input : node.inputs) {
      if (input->position_exact) continue;
      const PlanNode* culprit = FirstInexact(*input);
      return ErrorAt(node,
                     UnsupportedError(op, " with shards needs inputs sharded alike, but ", culprit->arguments.name,
                                      " changes which row stands where; ", op, " first, or shard by hand"));
    }
  }
  for (const auto& input : node.inputs) HEADRACE_RETURN_IF_ERROR(CheckSharded(*input, shard));
  return absl::OkStatus();
}

// The operator nearest to the sources that leaves out rows, or gives several for one; null: none.
const PlanNode* FirstRenumbering(const PlanNode& node) {
  for (const auto& input : node.inputs) {
    if (const PlanNode* found = FirstRenumbering(*input)) return found;
  }
  const OperatorProperties& properties = node.properties;
  const bool renumbers = properties.traits.joins_rows || properties.splits_messages || properties.traits.selects;
  return renumbers ? &node : nullptr;
}

const PlanNode* FirstSplitting(const PlanNode& node) {
  for (const auto& input : node.inputs) {
    if (const PlanNode* found = FirstSplitting(*input)) return found;
  }
  return node.properties.splits_messages ? &node : nullptr;
}

bool AllBatched(const PlanNode& node) {
  if (node.properties.traits.joins_rows || node.inputs.empty()) return node.properties.traits.joins_rows;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [](const auto& input) { return AllBatched(*input); });
}

absl::Status CheckPairs(const PlanNode& node) {
  for (const auto& input : node.inputs) HEADRACE_RETURN_IF_ERROR(CheckPairs(*input));
  if (!node.properties.traits.side_by_side) return absl::OkStatus();
  for (const auto& input : node.inputs) {
    const PlanNode* const culprit = FirstRenumbering(*input);
    if (culprit == nullptr) continue;
    const std::string& op = node.arguments.node->op();
    return ErrorAt(node, UnsupportedError("with on_error(\"skip\"), ", op, " cannot stand above ",
                                          culprit->arguments.name, ": where rows are left out there, other rows would ",
                                          "stand side by side; ", op, " first"));
  }
  return absl::OkStatus();
}

// Where an operator gives the rows of several inputs one after the other: the length of the shortest runs. nullopt:
// it does not.
std::optional<uint64_t> ShortestJoined(const PlanNode& node) {
  const ir::Traits& traits = node.properties.traits;
  if (node.inputs.size() < 2 || traits.random || traits.side_by_side) return std::nullopt;
  uint64_t shortest = node.arguments.run_length;
  for (const auto& input : node.inputs) shortest = std::min(shortest, input->properties.run_length);
  return shortest;
}

// `read`: the rows that the input had read.
absl::Status CheckListed(absl::Span<const uint64_t> rows, uint64_t read) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= read) return CounterError("held row ", rows[i], " of ", read);
    if (i > 0 && rows[i] <= rows[i - 1]) return CounterError("held row ", rows[i], " after row ", rows[i - 1]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRuns(const PlanNode& root) {
  if (root.indexed) return absl::OkStatus();
  for (const auto& input : root.inputs) HEADRACE_RETURN_IF_ERROR(CheckRuns(*input));
  const uint64_t length = root.arguments.run_length;
  const OperatorProperties& properties = root.properties;
  if (length == 1 || properties.run_length == length) return absl::OkStatus();
  if (properties.traits.joins_rows && properties.batch_rows == 0) {
    return ErrorAt(root, GraphError("chooses the size of each batch, which could cut the groups of ", length,
                                    " that the sampler below it gives; give one size, a multiple of ", length));
  }
  if (const std::optional<uint64_t> shortest = ShortestJoined(root); properties.batch_rows == 0 && shortest) {
    return ErrorAt(
        root, GraphError("joins an input whose rows stay together in groups of ", length, " with one ",
                         *shortest == 1 ? std::string("that has no groups") : Cat("of groups of ", *shortest), "; ",
                         root.arguments.node->op(), " after batch, or give both groups of one size"));
  }
  if (properties.batch_rows == 0) {
    return ErrorAt(root, GraphError("does not keep rows together that a sampler below it gives in groups of ", length,
                                    ": between that sampler and batch only maps, take and skip of whole groups, and "
                                    "concat of groups of one size may stand; put it after batch"));
  }
  if (static_cast<uint64_t>(properties.batch_rows) % length == 0) return absl::OkStatus();
  return ErrorAt(root, GraphError("has ", properties.batch_rows, " rows, which would cut the groups of ", length,
                                  " that the sampler below it gives; use a multiple of ", length));
}

absl::Status CheckSkipping(const PlanNode& root, const ShardAssignment& shard) {
  if (shard.even == ShardAssignment::Even::kDrop) {
    return UnsupportedError(
        "even=\"drop\" needs ranks to give the same number of rows, and on_error(\"skip\") leaves rows out; use "
        "even=\"pad\" or \"off\"");
  }
  if (shard.even == ShardAssignment::Even::kPad) {
    if (const PlanNode* const culprit = FirstSplitting(root)) {
      return ErrorAt(*culprit,
                     UnsupportedError("even=\"pad\" with on_error(\"skip\") cannot fill in for the rows that ",
                                      "fail around ", culprit->arguments.name, "; use even=\"off\""));
    }
    if (!AllBatched(root)) {
      return UnsupportedError(
          "even=\"pad\" with on_error(\"skip\") needs a batch, which marks what stands for rows that failed; add "
          "batch(), or use even=\"off\"");
    }
  }
  return CheckPairs(root);
}

absl::Status CheckRanges(const PlanNode& root, bool skips_failed) {
  constexpr std::string_view kInstead = "run the epoch from its start, or put it above what makes ranges of batches";
  if (const PlanNode* const culprit = FirstInexact(root)) {
    return ErrorAt(*culprit,
                   UnsupportedError("above it the number of a batch does not say which rows it has, so a range "
                                    "of batches cannot be made alone: ",
                                    kInstead));
  }
  const PlanNode& source = NumberedSource(root);
  if (source.indexed == nullptr) {
    return ErrorAt(source, UnsupportedError("gives its rows one after the other, so a range of batches cannot be made "
                                            "alone: run the epoch from its start",
                                            ir::HowToIndex(", or give it ", *source.arguments.node)));
  }
  if (source.properties.uneven_runs && !root.batched) {
    return ErrorAt(source,
                   UnsupportedError("gives groups of different sizes, so the number of a row does not say which "
                                    "one it is: add batch()"));
  }
  if (!skips_failed) return absl::OkStatus();
  return UnsupportedError(
      "with on_error(\"skip\") the number of a batch does not say which rows it has, because later rows take the "
      "places of those that fail: run the epoch from its start");
}

absl::Status ErrorAt(const PlanNode& node, absl::Status status) {
  AddErrorField(status, ErrorField::kOperator, node.arguments.name);
  AddErrorField(status, ErrorField::kLocation, node.arguments.location);
  return status;
}

absl::Status CheckShards(const PlanNode& root, const ShardAssignment& shard) {
  if (shard.even != ShardAssignment::Even::kOff && root.properties.cardinality.kind == Cardinality::Kind::kUnknown) {
    const PlanNode& culprit = FirstUncounted(root);
    return ErrorAt(culprit, UnsupportedError("even= needs a known number of rows on every rank, and that of ",
                                             culprit.arguments.name, " is not known before it runs; use even=\"off\"",
                                             ir::HowToIndex(", or ", *culprit.arguments.node)));
  }
  if (shard.world == 1) return absl::OkStatus();
  return CheckSharded(root, shard);
}

absl::Status CheckCounters(const PlanNode& root, const ShardAssignment& shard, absl::Span<const uint64_t> counters) {
  if (root.indexed) {
    const uint64_t run_length = root.properties.run_length;
    if (shard.base % run_length != 0) {
      return ErrorAt(root, CounterError("began at row ", shard.base, ", within a group of ", run_length));
    }
    // The epoch may be another than the run's first, as below repeat: the stage checks it when the epoch begins.
    if (root.properties.rows_differ) return absl::OkStatus();
    const uint64_t rows = shard.RowsOf(root.indexed->size(), shard.base, run_length);
    if (counters[0] <= rows) return absl::OkStatus();
    return ErrorAt(root, CounterError("gave ", counters[0], " rows of ", rows));
  }
  const NodeCounters cut = CutCounters(root, counters);
  for (size_t i = 0; i < root.inputs.size(); ++i) {
    HEADRACE_RETURN_IF_ERROR(CheckCounters(*root.inputs[i], shard, cut.inputs[i]));
  }
  if (!root.stream) return absl::OkStatus();
  absl::Status good = root.stream->CheckCounters(cut.own);
  if (good.ok() && root.properties.lists_rows) good = CheckListed(ListedRows(cut.own), cut.below[0]);
  return good.ok() ? good : ErrorAt(root, good);
}

}  // namespace headrace
