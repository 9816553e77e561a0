#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::StringsValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Rows (a=i, b=10 i, c=100 i) in messages of `group`.
GraphBuilder Projected(const std::vector<std::string>& columns, int64_t group) {
  GraphBuilder builder;
  builder.Add("Numpy", {}, {{"arrays", ir::ReferenceValue("abc")}, {"columns", ir::ColumnsValue(Int64Columns("abc"))}});
  builder.Add("test_group", {0}, {{"rows", ir::IntValue(group)}});
  builder.Add("project", {1}, {{"columns", StringsValue(columns)}});
  return builder;
}

RunSpec Abc() {
  RunSpec spec;
  spec.bindings.arrays["abc"].columns = {
      {"a", Int64s({0, 1, 2, 3})}, {"b", Int64s({0, 10, 20, 30})}, {"c", Int64s({0, 100, 200, 300})}};
  return spec;
}

TEST(Project, KeepsColumnsInTheOrderGiven) {
  for (const int64_t group : {1, 3}) {
    const Ran ran = RunEveryWay(Projected({"c", "a"}, group), Abc());
    EXPECT_THAT(ran.Texts(1), ElementsAre("c=0, a=0", "c=100, a=1", "c=200, a=2", "c=300, a=3"));
    EXPECT_THAT(ran.Keys(1), ElementsAre(0, 1, 2, 3));
  }
}

TEST(Project, SuggestsTheColumnThatWasMeant) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", ir::IntValue(3)}});
  builder.Add("project", {0}, {{"columns", StringsValue({"valeu"})}});
  EXPECT_THAT(Refusal(builder), HasSubstr("no column \"valeu\"; did you mean \"value\"? (columns: value)"));
}

TEST(Project, RefusesNoneAndTwice) {
  EXPECT_THAT(Refusal(Projected({}, 1), Abc()), HasSubstr("columns is empty; give at least one"));
  EXPECT_THAT(Refusal(Projected({"a", "a"}, 1), Abc()), HasSubstr("names \"a\" twice"));
}

TEST(Project, SharesTheStageBelow) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", ir::IntValue(3)}});
  builder.Add("project", {0}, {{"columns", StringsValue({"value"})}});
  const auto pipeline = Pipeline::Make(*builder.Build(), OptionsOf({}));
  ASSERT_TRUE(pipeline.ok());
  EXPECT_EQ((*pipeline)->report().stages.size(), 1u);
}

}  // namespace
}  // namespace headrace
