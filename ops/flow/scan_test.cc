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

// The function adds the value to the state, and gives the new state; it does not like `disliked`.
RunSpec Totals(int64_t initial, int64_t disliked = -1) {
  RunSpec spec;
  spec.bindings.functions["add"] = std::make_shared<FakeFunction>(
      [disliked](absl::Span<const Tensor> inputs, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
        const int64_t value = inputs[1].value<int64_t>();
        if (value == disliked) return DataError(value, " is not welcome");
        const Tensor total = Int64Tensor({}, {inputs[0].value<int64_t>() + value});
        return std::vector<Tensor>{total, total};
      });
  spec.bindings.functions["real"] = std::make_shared<FakeFunction>(
      [](absl::Span<const Tensor> inputs, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
        return std::vector<Tensor>{*Tensor::Scalar(1.5), inputs[1]};
      });
  spec.bindings.functions["one"] = std::make_shared<FakeFunction>(
      [](absl::Span<const Tensor> inputs, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
        return std::vector<Tensor>{inputs[0]};
      });
  spec.bindings.arrays["initial"].columns = {{"state", Int64s({initial})}};
  return spec;
}

GraphBuilder Scanned(int64_t rows, int64_t group, std::string_view output, std::string_view function = "add") {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  builder.Add("test_group", {0}, {{"rows", IntValue(group)}});
  builder.Add("scan", {1},
              {{"function", ir::ReferenceValue(function)},
               {"initial", ir::ReferenceValue("initial")},
               {"columns", ir::StringsValue({"value"})},
               {"output", ir::StringsValue({std::string(output)})}});
  return builder;
}

class Scan : public ::testing::TestWithParam<int64_t> {};

TEST_P(Scan, HandsTheStateFromRowToRowOfAnEpoch) {
  const Ran ran = RunEveryWay(Scanned(5, GetParam(), "total"), Totals(10));
  EXPECT_THAT(ran.Texts(0), ElementsAre("value=0, total=10", "value=1, total=11", "value=2, total=13",
                                        "value=3, total=16", "value=4, total=20"));
  EXPECT_EQ(ran.Texts(1), ran.Texts(0));
  EXPECT_THAT(ran.Keys(), ElementsAre(0, 1, 2, 3, 4));
}

TEST_P(Scan, ReplacesTheColumnsItGets) {
  EXPECT_THAT(RunEveryWay(Scanned(4, GetParam(), "value"), Totals(0)).Ints(0, 1), ElementsAre(0, 1, 3, 6));
}

TEST_P(Scan, ComesBelowABatch) {
  GraphBuilder builder = Scanned(5, GetParam(), "value");
  builder.Add("batch", {2}, {{"size", IntValue(2)}});
  EXPECT_THAT(RunEveryWay(builder, Totals(1)).Texts(1),
              ElementsAre("value=int64 (2,) [1 2]", "value=int64 (2,) [4 7]", "value=int64 (1,) [11]"));
}

TEST_P(Scan, EndsTheEpochWhereItsFunctionFails) {
  const Ran ran = RunEveryWay(Scanned(6, GetParam(), "value"), Totals(0, 3));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 1, 3));
  EXPECT_THAT(ran.error.ToString(), HasSubstr("3 is not welcome"));
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kOperator), "scan[2]");
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kRow), "epoch 0, key 3");
}

INSTANTIATE_TEST_SUITE_P(Grouped, Scan, ::testing::Values(1, 2, 5));

TEST(Scan, ChecksWhatItsFunctionGives) {
  EXPECT_THAT(RunEveryWay(Scanned(3, 1, "value", "real"), Totals(0)).error.ToString(),
              HasSubstr("gave the state float64 (), which began as int64 (); the dtype must stay"));
  EXPECT_THAT(RunEveryWay(Scanned(3, 1, "value", "one"), Totals(0)).error.ToString(),
              HasSubstr("gave 1 values; it must give the new state and 1 value, as a tuple"));
}

TEST(Scan, RunsOnlyWhereItWasBuilt) {
  RunSpec spec = Totals(0);
  spec.bindings.arrays.clear();
  EXPECT_THAT(Refusal(Scanned(3, 1, "value"), spec), HasSubstr("the initial state initial is not here"));
}

}  // namespace
}  // namespace headrace
