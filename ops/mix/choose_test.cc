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
using ChooseInts = std::vector<int64_t>;

// Row i of the choices is `choices[i]`.
RunSpec Choices(ChooseInts choices) {
  RunSpec spec;
  BindIterator(spec.bindings, "choices", [choices](uint64_t, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
    if (i >= choices.size()) return std::vector<Tensor>();
    return std::vector<Tensor>{Int64Tensor({}, {choices[i]})};
  });
  return spec;
}

// Inputs of such sizes, whose values begin at 0, 100, ….
GraphBuilder Chosen(const ChooseInts& sizes, int64_t group, std::string_view stop, const ChooseInts& fails = {}) {
  GraphBuilder builder;
  std::vector<uint32_t> inputs;
  for (const int64_t size : sizes) {
    const int64_t start = 100 * static_cast<int64_t>(inputs.size());
    uint32_t last = builder.Add("Range", {}, {{"start", IntValue(start)}, {"stop", IntValue(start + size)}});
    if (!fails.empty()) last = builder.Add("test_fail", {last}, {{"values", ir::IntsValue(fails)}});
    inputs.push_back(builder.Add("test_group", {last}, {{"rows", IntValue(group)}}));
  }
  const uint32_t choices = builder.Add(
      "Generator", {}, {{"function", ir::ReferenceValue("choices")}, {"columns", ir::ColumnsValue(Int64Columns("c"))}});
  inputs.push_back(builder.Add("test_group", {choices}, {{"rows", IntValue(group)}}));
  builder.Add("choose", inputs, {{"stop", ir::StringValue(stop)}});
  return builder;
}

class Choose : public ::testing::TestWithParam<int64_t> {};

TEST_P(Choose, GivesTheNextRowOfTheChosenInput) {
  const Ran ran = RunEveryWay(Chosen({4, 5}, GetParam(), "first"), Choices({1, 0, 0, 1, 1, 0}));
  EXPECT_THAT(ran.Ints(), ElementsAre(100, 0, 1, 101, 102, 2));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(100, 0, 1, 101, 102, 2));
  EXPECT_NE(ran.Keys()[0], ran.Keys()[1]);
}

TEST_P(Choose, EndsWithTheFirstInputThatIsEmpty) {
  const Ran ran = RunEveryWay(Chosen({2, 5}, GetParam(), "first"), Choices({1, 0, 0, 1, 0, 1, 1}));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(100, 0, 1, 101));
}

TEST_P(Choose, PassesOverEmptyInputsUntilAllAre) {
  const Ran ran = RunEveryWay(Chosen({2, 3, 0}, GetParam(), "all"), Choices({2, 0, 0, 1, 0, 2, 1, 0, 1, 1, 0}));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(0, 1, 100, 101, 102));
}

TEST_P(Choose, RefusesWhatIsNoInput) {
  for (const int64_t wrong : {-1, 2}) {
    const Ran ran = RunEveryWay(Chosen({4, 5}, GetParam(), "first"), Choices({1, 0, wrong, 1}));
    EXPECT_THAT(ran.Ints(), ElementsAre(100, 0));
    EXPECT_THAT(ran.error.ToString(), HasSubstr(Cat("chooses input ", wrong, "; it must be a whole number of 0 … 1")));
    EXPECT_EQ(GetErrorField(ran.error, ErrorField::kRow), "epoch 0, key 2");
  }
}

TEST_P(Choose, CountsARowThatFailedAsOne) {
  GraphBuilder builder = Chosen({4, 5}, GetParam(), "first", {1, 101});
  EXPECT_THAT(RunEveryWay(builder, Choices({1, 0, 0, 1, 1, 0})).Ints(), ElementsAre(100, 0));
  builder.SkipFailed(9);
  EXPECT_THAT(RunEveryWay(builder, Choices({1, 0, 0, 1, 1, 0})).Ints(0, 1), ElementsAre(100, 0, 102, 2));
}

TEST_P(Choose, ComesBelowATake) {
  GraphBuilder builder = Chosen({4, 5}, GetParam(), "first");
  builder.Add("take", {static_cast<uint32_t>(builder.raw().nodes_size() - 1)}, {{"count", IntValue(3)}});
  EXPECT_THAT(RunEveryWay(builder, Choices({1, 0, 0, 1, 1, 0})).Ints(0, 1), ElementsAre(100, 0, 1));
}

INSTANTIATE_TEST_SUITE_P(Grouped, Choose, ::testing::Values(1, 2, 5));

TEST(Choose, NeedsOneColumnOfWholeNumbers) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(3)}});
  builder.Add("rename", {0}, {{"mapping", ir::PairsValue({{"value", "other"}})}});
  builder.Add("zip", {0, 1});
  builder.Add("choose", {0, 2});
  EXPECT_THAT(Refusal(builder), HasSubstr("choice has 2 columns; it must have one, of whole numbers"));
}

}  // namespace
}  // namespace headrace
