#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "ir/graph.pb.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using UniqueInts = std::vector<int64_t>;

// Row i has `keys[i]`, which differ from epoch to epoch by `shift`, and i.
RunSpec KeysUnique(UniqueInts keys, int64_t shift = 0) {
  RunSpec spec;
  BindIterator(spec.bindings, "rows", [=](uint64_t epoch, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
    if (i >= keys.size()) return std::vector<Tensor>();
    return std::vector<Tensor>{Int64Tensor({}, {keys[i] + shift * static_cast<int64_t>(epoch)}),
                               Int64Tensor({}, {static_cast<int64_t>(i)})};
  });
  return spec;
}

GraphBuilder Unique(int64_t group, const GraphBuilder::Given& attributes) {
  GraphBuilder builder;
  builder.Add("Generator", {},
              {{"function", ir::ReferenceValue("rows")}, {"columns", ir::ColumnsValue(Int64Columns("kv"))}});
  builder.Add("test_group", {0}, {{"rows", IntValue(group)}});
  builder.Add("unique", {1}, attributes);
  return builder;
}

const GraphBuilder::Given kByKey = {{"columns", ir::StringsValue({"k"})}};

class UniqueRows : public ::testing::TestWithParam<int64_t> {};

TEST_P(UniqueRows, AreTheFirstOfTheirValuesInEveryEpoch) {
  const Ran ran = RunEveryWay(Unique(GetParam(), kByKey), KeysUnique({3, 5, 3, 3, 4, 5, 9, 4, 3}, 1));
  EXPECT_THAT(ran.Ints(1, 0), ElementsAre(0, 1, 4, 6));
  EXPECT_THAT(ran.Ints(1, 1), ElementsAre(0, 1, 4, 6));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(4, 6, 5, 10));
  EXPECT_THAT(ran.Keys(), ElementsAre(0, 1, 4, 6));
}

TEST_P(UniqueRows, AreToldApartByAllColumnsUnlessSomeAreNamed) {
  EXPECT_THAT(RunEveryWay(Unique(GetParam(), {}), KeysUnique({3, 3, 3})).Ints(1), ElementsAre(0, 1, 2));
}

TEST_P(UniqueRows, ComeBelowATakeThatEndsTheEpoch) {
  GraphBuilder builder = Unique(GetParam(), kByKey);
  builder.Add("take", {2}, {{"count", IntValue(2)}});
  EXPECT_THAT(RunEveryWay(builder, KeysUnique({3, 3, 5, 3, 4, 4, 7})).Ints(1, 1), ElementsAre(0, 2));
}

TEST_P(UniqueRows, PassErrorsOn) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(8)}});
  builder.Add("test_fail", {0}, {{"values", ir::IntsValue({4})}});
  builder.Add("test_group", {1}, {{"rows", IntValue(GetParam())}});
  builder.Add("unique", {2});
  const Ran ran = RunEveryWay(builder);
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ran.error.ToString(), HasSubstr("the value 4 is not liked"));
}

TEST_P(UniqueRows, SkipRowsThatFailed) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(8)}});
  builder.Add("test_fail", {0}, {{"values", ir::IntsValue({0, 4, 7})}});
  builder.Add("test_group", {1}, {{"rows", IntValue(GetParam())}});
  builder.Add("unique", {2});
  builder.SkipFailed(9);
  EXPECT_THAT(RunEveryWay(builder).Ints(0, 1), ElementsAre(1, 2, 3, 5, 6));
}

INSTANTIATE_TEST_SUITE_P(Grouped, UniqueRows, ::testing::Values(1, 2, 5));

TEST(Unique, NamesTheColumnThatIsNotThere) {
  EXPECT_THAT(Refusal(Unique(1, {{"columns", ir::StringsValue({"x"})}}), KeysUnique({1})), HasSubstr("\"x\""));
}

}  // namespace
}  // namespace headrace
