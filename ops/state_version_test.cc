// States and graphs of operators that give another order now.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "engine/exec/iteration.h"
#include "engine/exec/sealed_state.h"
#include "ir/graph_hash.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::HasSubstr;

GraphBuilder Counting(bool shuffle) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(6)}, {"shuffle", BoolValue(shuffle)}});
  builder.Add("batch", {0}, {{"size", IntValue(2)}});
  return builder;
}

// Canonical, with the version that Range had before its order changed.
ir::proto::Graph Before(bool shuffle) {
  ir::proto::Graph graph = *Counting(shuffle).Build();
  graph.mutable_nodes(0)->set_version(1);
  return graph;
}

std::string RefusalOf(const ir::proto::Graph& graph, const std::string& state = "") {
  IterateOptions options;
  options.state = state;
  const auto started = Iteration::Start(graph, std::move(options));
  return started.ok() ? "" : std::string(started.status().message());
}

TEST(OperatorVersion, AGraphThatShuffledAnotherWayIsRefused) {
  EXPECT_THAT(RefusalOf(Before(true)), HasSubstr("version 1 of Range, and this Headrace version 2: shuffle=True gives "
                                                 "another order since version 2"));
  EXPECT_EQ(RefusalOf(Before(false)), "");
}

TEST(OperatorVersion, AStateOfAnotherOrderIsRefused) {
  const ir::proto::Graph graph = *Counting(true).Build();
  const auto iteration = Iteration::Start(graph, {});
  ASSERT_TRUE(iteration.ok()) << iteration.status();
  const absl::StatusOr<std::string> bytes = (*iteration)->State();
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(RefusalOf(graph, *bytes), "");
  proto::State state = *OpenState(*bytes);
  const ir::GraphHash hash = ir::UserGraphHash(Before(true));
  state.set_graph_high(hash.high);
  state.set_graph_low(hash.low);
  state.set_nodes(0, ir::NodeHashes(Before(true))[0]);
  EXPECT_THAT(RefusalOf(graph, SealState(state)),
              HasSubstr("the state was taken with version 1 of Range, and this Headrace has version 2"));
}

}  // namespace
}  // namespace headrace
