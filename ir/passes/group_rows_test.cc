#include "ir/passes/group_rows.h"

#include <gtest/gtest.h>

#include <vector>

#include "ir/graph.pb.h"
#include "ir/testing/fake_ops.h"

namespace headrace::ir {
namespace {

// Ids of the marked nodes.
std::vector<int> Marked(const GraphBuilder& builder) {
  const proto::Graph graph = *GroupRows(builder.Canonical());
  std::vector<int> marked;
  for (int i = 0; i < graph.nodes_size(); ++i) {
    if (graph.nodes(i).grouped()) marked.push_back(i);
  }
  return marked;
}

TEST(GroupRows, MarksSources) {
  GraphBuilder builder;
  builder.Add("numbers");
  builder.Add("map", {0});
  builder.Step("Negate", {"value"}, {"value"});
  builder.Add("shuffle", {1}, {{"window", IntValue(3)}});
  EXPECT_EQ(Marked(builder), std::vector<int>{0});
}

TEST(GroupRows, LeavesRowsAloneThatPythonIsCalledFor) {
  GraphBuilder builder;
  builder.Add("numbers");
  builder.Add("map", {0});
  builder.Step("Call", {"value"}, {"value"}, {{"function", ReferenceValue("f")}});
  builder.Add("shuffle", {1}, {{"window", IntValue(3)}});
  EXPECT_EQ(Marked(builder), std::vector<int>());
}

TEST(GroupRows, LeavesRowsAloneThatBecomeMany) {
  GraphBuilder builder;
  builder.Add("numbers");
  builder.Add("numbers");
  builder.Add("split", {1});
  builder.Add("same", {0, 2});
  EXPECT_EQ(Marked(builder), std::vector<int>{0});
}

// A source that two operators use gives its rows alone where either wants them so.
TEST(GroupRows, AsksEveryUser) {
  GraphBuilder builder;
  builder.Add("numbers");
  builder.Add("split", {0});
  builder.Add("same", {0, 1});
  EXPECT_EQ(Marked(builder), std::vector<int>());
}

}  // namespace
}  // namespace headrace::ir
