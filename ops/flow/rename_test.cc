#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

GraphBuilder Renamed(const std::vector<std::pair<std::string, std::string>>& mapping, int64_t group = 1) {
  GraphBuilder builder;
  builder.Add("Numpy", {}, {{"arrays", ir::ReferenceValue("ab")}, {"columns", ir::ColumnsValue(Int64Columns("ab"))}});
  builder.Add("test_group", {0}, {{"rows", ir::IntValue(group)}});
  builder.Add("rename", {1}, {{"mapping", ir::PairsValue(mapping)}});
  return builder;
}

RunSpec Ab() {
  RunSpec spec;
  spec.bindings.arrays["ab"].columns = {{"a", Int64s({0, 1, 2})}, {"b", Int64s({5, 6, 7})}};
  return spec;
}

TEST(Rename, GivesOtherNames) {
  EXPECT_THAT(RunEveryWay(Renamed({{"a", "first"}}, 2), Ab()).Texts(1),
              ElementsAre("first=0, b=5", "first=1, b=6", "first=2, b=7"));
}

TEST(Rename, MaySwap) {
  EXPECT_THAT(RunEveryWay(Renamed({{"a", "b"}, {"b", "a"}}), Ab()).Texts(),
              ElementsAre("b=0, a=5", "b=1, a=6", "b=2, a=7"));
}

TEST(Rename, RefusesUnknownAndEqualNames) {
  EXPECT_THAT(Refusal(Renamed({{"c", "d"}}), Ab()), HasSubstr("no column \"c\" (columns: a, b)"));
  EXPECT_THAT(Refusal(Renamed({{"a", "b"}}), Ab()), HasSubstr("two columns would be named \"b\""));
  EXPECT_THAT(Refusal(Renamed({{"a", ""}}), Ab()), HasSubstr("the new name of \"a\" is empty"));
}

TEST(Rename, KeepsRandomAccess) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"start", ir::IntValue(0)}, {"stop", ir::IntValue(4)}});
  builder.Add("rename", {0}, {{"mapping", ir::PairsValue({{"value", "number"}})}});
  builder.Add("zip", {0, 1});
  builder.Add("select", {2}, {{"indices", ir::IntsValue({3, 1})}});
  EXPECT_THAT(RunEveryWay(builder).Texts(), ElementsAre("value=3, number=3", "value=1, number=1"));
}

TEST(Rename, LetsTakeActOnIndices) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"start", ir::IntValue(0)}, {"stop", ir::IntValue(9)}});
  builder.Add("rename", {0}, {{"mapping", ir::PairsValue({{"value", "number"}})}});
  builder.Add("take", {1}, {{"count", ir::IntValue(3)}});
  const std::vector<Ran> ranks = RunRanks(builder, 2);
  EXPECT_THAT(ranks[0].Ints(), ElementsAre(0, 2));
  EXPECT_THAT(ranks[1].Ints(), ElementsAre(1));
}

}  // namespace
}  // namespace headrace
