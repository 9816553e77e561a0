// Shuffled orders as operators: where the canonical form puts them, and what they give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/plan/plan_node.h"
#include "ir/attributes.h"
#include "ir/canonical.h"
#include "ir/dump.h"
#include "ir/graph.pb.h"
#include "ir/salts.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::HasSubstr;

GraphBuilder::Given Shuffled(int64_t rows) { return {{"stop", IntValue(rows)}, {"shuffle", BoolValue(true)}}; }

GraphBuilder OverPermute(std::string_view op, int64_t count) {
  GraphBuilder builder;
  builder.Add("Range", {}, Shuffled(12));
  builder.Add(op, {0}, {{"count", IntValue(count)}});
  return builder;
}

std::set<int64_t> SetOf(const std::vector<int64_t>& values) { return {values.begin(), values.end()}; }

TEST(Permute, StandsForTheShuffleOfASource) {
  GraphBuilder builder;
  GraphBuilder::Given attributes = Shuffled(9);
  attributes.emplace_back("seed", IntValue(5));
  attributes.emplace_back("name", ir::StringValue("mine"));
  builder.Add("Range", {}, attributes);
  builder.Add("take", {0}, {{"count", IntValue(3)}});
  const ir::proto::Graph graph = *builder.Build();
  EXPECT_EQ(ir::GraphDump(graph), Cat("#0  Range(name=None, seed=None, shuffle=False, start=0, step=1, stop=9)\n"
                                      "#1  permute(#0, name='mine', seed=5)  salt ",
                                      ir::PinnedSalt("mine"), "\n#2  take(#1, count=3)\n"));
  EXPECT_EQ(graph.nodes(1).location().line(), graph.nodes(0).location().line());
  ir::proto::Graph again = graph;
  ASSERT_TRUE(ir::Canonicalize(again).ok());
  EXPECT_EQ(ir::GraphDump(again), ir::GraphDump(graph));
}

TEST(Permute, HasTheNameOfItsSource) {
  ir::proto::Graph graph = *OverPermute("take", 3).Build();
  EXPECT_EQ(NodeName(graph, 1), "Range[0]");
  EXPECT_EQ(NodeName(graph, 2), "take[1]");
  NumberOperators(graph);
  EXPECT_EQ(NodeName(graph, 1), "Range[0]");
  EXPECT_EQ(NodeName(graph, 2), "take[1]");
}

TEST(Permute, LeavesAWrongSeedToItsSource) {
  GraphBuilder builder;
  GraphBuilder::Given attributes = Shuffled(9);
  attributes.emplace_back("seed", ir::StringValue("five"));
  builder.Add("Range", {}, attributes);
  EXPECT_THAT(Refusal(builder), HasSubstr("Range: seed is 'five'"));
}

TEST(Permute, OverWhatHasNoNumbersIsRefused) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(5)}});
  builder.Add("repeat", {0}, {{"count", IntValue(2)}});
  builder.Add("permute", {1});
  EXPECT_THAT(Refusal(builder), HasSubstr("acts on the numbers of rows"));
}

TEST(Permute, IsBelowTakeAndSkipWhichCountWhatComes) {
  const Ran all = RunEveryWay(OverPermute("take", 12));
  const Ran taken = RunEveryWay(OverPermute("take", 5));
  const Ran skipped = RunEveryWay(OverPermute("skip", 5));
  for (const uint64_t epoch : {0, 1}) {
    std::vector<int64_t> both = taken.Ints(0, epoch);
    EXPECT_EQ(both.size(), 5u);
    const std::vector<int64_t> rest = skipped.Ints(0, epoch);
    both.insert(both.end(), rest.begin(), rest.end());
    EXPECT_EQ(both, all.Ints(0, epoch));
  }
  EXPECT_NE(SetOf(taken.Ints(0, 0)), SetOf(taken.Ints(0, 1)));
}

TEST(Permute, ActsOverOperatorsOnIndices) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(6)}});
  builder.Add("Range", {}, {{"start", IntValue(10)}, {"stop", IntValue(16)}});
  builder.Add("concat", {0, 1});
  builder.Add("skip", {2}, {{"count", IntValue(2)}});
  builder.Add("permute", {3});
  const Ran ran = RunEveryWay(builder);
  EXPECT_EQ(SetOf(ran.Ints()), (std::set<int64_t>{2, 3, 4, 5, 10, 11, 12, 13, 14, 15}));
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
  std::set<uint64_t> keys;
  for (const uint64_t key : ran.Keys()) keys.insert(key);
  EXPECT_EQ(keys.size(), 10u);
}

TEST(Permute, ComesBeforeSharding) {
  std::multiset<int64_t> seen;
  for (const Ran& rank : RunRanks(OverPermute("take", 7), 3)) {
    for (const int64_t value : rank.Ints()) seen.insert(value);
  }
  const std::vector<int64_t> taken = RunEveryWay(OverPermute("take", 7)).Ints();
  EXPECT_EQ(seen, std::multiset<int64_t>(taken.begin(), taken.end()));
}

TEST(Permute, ChangesItsOrderWithSeedAndSalt) {
  GraphBuilder two;
  two.Add("Range", {}, Shuffled(20));
  two.Add("Range", {}, Shuffled(20));
  two.Add("rename", {1}, {{"mapping", ir::PairsValue({{"value", "other"}})}});
  two.Add("zip", {0, 2});
  const Ran ran = RunEveryWay(two);
  EXPECT_NE(ran.Ints(0), ran.Ints(1));
  RunSpec other_seed;
  other_seed.seed = 8;
  EXPECT_NE(RunEveryWay(two, other_seed).Ints(0), ran.Ints(0));
}

}  // namespace
}  // namespace headrace
