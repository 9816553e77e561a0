#include "ops/testing/state_run.h"

#include <chrono>
#include <utility>

#include "core/testing/require.h"
#include "engine/exec/sealed_state.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

constexpr auto kStateRunPatience = std::chrono::seconds(5);

}  // namespace

proto::State StateAfter(const ir::proto::Graph& graph, int rows, const HostBindings& bindings) {
  IterateOptions options;
  options.bindings = bindings;
  options.pull = true;
  options.seed = 7;
  auto iteration = Iteration::Start(graph, std::move(options));
  Require(iteration.ok(), "the graph runs");
  ResultRow row;
  for (int i = 0; i < rows; ++i) {
    const auto outcome = (*iteration)->Fetch(kStateRunPatience, row);
    Require(outcome.ok() && *outcome == Pipeline::Outcome::kRow, "the graph gives so many rows");
    (*iteration)->Given();
  }
  const absl::StatusOr<std::string> sealed = (*iteration)->State();
  Require(sealed.ok(), "the graph has states");
  return *OpenState(*sealed);
}

IterateOptions FromState(const proto::State& state) {
  IterateOptions options;
  options.pull = true;
  options.state = SealState(state);
  return options;
}

absl::Status ReadAll(absl::StatusOr<std::unique_ptr<Iteration>> iteration, int most,
                     std::chrono::nanoseconds patience) {
  if (!iteration.ok()) return iteration.status();
  ResultRow row;
  for (int i = 0; i < most; ++i) {
    const auto outcome = (*iteration)->Fetch(patience, row);
    if (!outcome.ok()) return outcome.status();
    if (*outcome != Pipeline::Outcome::kRow) break;
  }
  return absl::OkStatus();
}

}  // namespace headrace
