// States and graphs of operators that gave other rows in an earlier version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "engine/exec/iteration.h"
#include "engine/exec/sealed_state.h"
#include "ir/graph.pb.h"
#include "ir/graph_hash.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::HasSubstr;

GraphBuilder Versioned(bool other) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(6)}});
  builder.Add("test_versioned", {0}, {{"other", BoolValue(other)}});
  return builder;
}

// Canonical, with the version that the operator had before its rows changed.
ir::proto::Graph Before(bool other) {
  ir::proto::Graph graph = *Versioned(other).Build();
  graph.mutable_nodes(1)->set_version(1);
  return graph;
}

std::string RefusalOf(const ir::proto::Graph& graph, const std::string& state = "") {
  IterateOptions options;
  options.state = state;
  const auto started = Iteration::Start(graph, std::move(options));
  return started.ok() ? "" : std::string(started.status().message());
}

TEST(OperatorVersion, AGraphThatGaveOtherRowsIsRefused) {
  EXPECT_THAT(RefusalOf(Before(true)), HasSubstr("version 1 of test_versioned, and this Headrace version 2: "
                                                 "other=True gives other rows since version 2"));
  EXPECT_EQ(RefusalOf(Before(false)), "");
}

TEST(OperatorVersion, AStateOfOtherRowsIsRefused) {
  const ir::proto::Graph graph = *Versioned(true).Build();
  const auto iteration = Iteration::Start(graph, {});
  ASSERT_TRUE(iteration.ok()) << iteration.status();
  const absl::StatusOr<std::string> bytes = (*iteration)->State();
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(RefusalOf(graph, *bytes), "");
  proto::State state = *OpenState(*bytes);
  const ir::GraphHash hash = ir::UserGraphHash(Before(true));
  state.set_graph_high(hash.high);
  state.set_graph_low(hash.low);
  state.set_nodes(1, ir::NodeHashes(Before(true))[1]);
  EXPECT_THAT(RefusalOf(graph, SealState(state)),
              HasSubstr("the state was taken with version 1 of test_versioned, and this Headrace has version 2"));
}

}  // namespace
}  // namespace headrace
