#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GraphBuilder Repeated(int64_t rows, int64_t count, bool shuffle = false) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", BoolValue(shuffle)}});
  builder.Add("repeat", {0}, {{"count", IntValue(count)}});
  return builder;
}

TEST(Repeat, GivesPassesAsOneEpoch) {
  const Ran ran = RunEveryWay(Repeated(2, 3));
  EXPECT_THAT(ran.Ints(0, 0), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(0, 1, 0, 1, 0, 1));
}

TEST(Repeat, ShufflesEveryPassAnew) {
  const std::vector<int64_t> values = RunEveryWay(Repeated(20, 2, true)).Ints();
  EXPECT_NE(std::vector(values.begin(), values.begin() + 20), std::vector(values.begin() + 20, values.end()));
}

TEST(Repeat, TellsTheRowsOfPassesApart) {
  const std::vector<uint64_t> keys = RunEveryWay(Repeated(4, 3)).Keys();
  EXPECT_EQ(std::set<uint64_t>(keys.begin(), keys.end()).size(), 12u);
}

TEST(Repeat, OfRepeatMultiplies) {
  GraphBuilder builder = Repeated(2, 2);
  builder.Add("repeat", {1}, {{"count", IntValue(2)}});
  EXPECT_THAT(RunEveryWay(builder).Ints(0, 1), ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
}

TEST(Repeat, EndlesslyOverNothingIsAnError) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(0)}});
  builder.Add("repeat", {0});
  RunSpec spec;
  spec.epochs = 1;
  EXPECT_THAT(std::string(RunEveryWay(builder, spec).error.message()), HasSubstr("gave no rows in pass 0"));
}

// Range(2).repeat().take(3).repeat().take(4), and so on: one endless repeat in another.
GraphBuilder Nested(int levels) {
  GraphBuilder builder;
  uint32_t top = builder.Add("Range", {}, {{"stop", IntValue(2)}});
  for (int level = 0; level < levels; ++level) {
    top = builder.Add("repeat", {top});
    top = builder.Add("take", {top}, {{"count", IntValue(3 + level)}});
  }
  return builder;
}

TEST(Repeat, WithinAnEndlessOneMayBeEndless) {
  RunSpec spec;
  spec.epochs = 1;
  EXPECT_THAT(RunEveryWay(Nested(2), spec).Ints(), ElementsAre(0, 1, 0, 0));
  // Twice in a concat, pulled: FinishEpoch must reach it, whatever the epoch's number.
  GraphBuilder builder = Nested(2);
  builder.Add("concat", {4, 4});
  EXPECT_THAT(RunEveryWay(builder, spec).Ints(), ElementsAre(0, 1, 0, 0, 0, 1, 0, 0));
}

TEST(Repeat, GivesAllRowsInEveryEpochThatCanBeCounted) {
  RunSpec spec;
  GraphBuilder endless = Nested(1);
  for (const uint64_t first : {uint64_t{1} << 31, (uint64_t{1} << 32) - 2}) {
    spec.first_epoch = first;
    const Ran ran = RunEveryWay(endless, spec);
    EXPECT_THAT(ran.Ints(0, first), ElementsAre(0, 1, 0));
    EXPECT_THAT(ran.Ints(0, first + 1), ElementsAre(0, 1, 0));
  }
  // The last one ends at epoch 2^64 - 2 of Range, or just before.
  for (const uint64_t first : {uint64_t{1} << 62, EpochRange::kMost / 3 - 2}) {
    spec.first_epoch = first;
    EXPECT_THAT(RunEveryWay(Repeated(2, 3), spec).Ints(0, first + 1), ElementsAre(0, 1, 0, 1, 0, 1));
  }
  spec.first_epoch = EpochRange::kMost - 1;
  EXPECT_THAT(RunEveryWay(Repeated(2, 1), spec).Ints(0, EpochRange::kMost), ElementsAre(0, 1));
}

TEST(Repeat, IsRefusedInEpochsThatCannotBeCounted) {
  RunSpec spec;
  spec.epochs = 1;
  EXPECT_EQ(Refusal(Nested(2), spec), "");
  EXPECT_THAT(Refusal(Nested(3), spec), HasSubstr("are enough for none here"));
  spec.first_epoch = 1;
  EXPECT_THAT(Refusal(Nested(2), spec), HasSubstr("epoch 1 cannot be counted"));
  EXPECT_THAT(Refusal(Nested(2), spec), HasSubstr("up to epoch 0 here; give an endless repeat() a count"));
  spec.first_epoch = uint64_t{1} << 32;
  EXPECT_THAT(Refusal(Nested(1), spec), HasSubstr("up to epoch 4294967295 here"));
  spec.first_epoch = uint64_t{1} << 63;
  EXPECT_THAT(Refusal(Repeated(2, 3), spec), HasSubstr("cannot be counted"));
}

TEST(Repeat, SaysThatALaterEpochCannotBeCounted) {
  const absl::StatusOr<ir::proto::Graph> graph = Nested(2).Build();
  PipelineOptions options;
  options.epochs = {0, EpochRange::kEndless};
  for (const bool pull : {false, true}) {
    options.pull = pull;
    auto pipeline = Pipeline::Make(*graph, options);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    (*pipeline)->Ask(EpochRange::kEndless);
    ResultRow row;
    const auto next = [&] { return (*pipeline)->Next(std::chrono::seconds(60), row); };
    for (int i = 0; i < 4; ++i) ASSERT_EQ(*next(), Pipeline::Outcome::kRow);
    ASSERT_EQ(*next(), Pipeline::Outcome::kEpochEnd);
    EXPECT_THAT(std::string(next().status().message()), HasSubstr("epoch 1 cannot be counted"));
  }
}

TEST(Repeat, CountsRowsThatFitInto64Bits) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(int64_t{1} << 62)}});
  builder.Add("repeat", {0}, {{"count", IntValue(8)}});
  RunOptions run;
  EXPECT_FALSE((*MakePlanNodes(*builder.Build(), run))->properties.cardinality.known());
}

// One row of three in a pass, where it is odd: one of 1, 2 and 3 or none, from pass to pass.
GraphBuilder Changing(int64_t count) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"start", IntValue(1)}, {"stop", IntValue(4)}, {"shuffle", BoolValue(true)}});
  builder.Add("take", {0}, {{"count", IntValue(1)}});
  const auto literal = [](int64_t value) { return ir::LiteralExpression(IntValue(value)); };
  auto rest = ir::CallExpression("%", ir::ColumnExpression("value"), literal(2));
  builder.Add("filter", {1},
              {{"predicate", ir::ExpressionValue(ir::CallExpression("==", std::move(rest), literal(1)))}});
  builder.Add("repeat", {2});
  builder.Add("take", {3}, {{"count", IntValue(count)}});
  return builder;
}

// A restart after the last row of a pass finds the pass without rows that a whole run finds.
TEST(Repeat, EndlesslyEndsAtAPassWithoutRowsWhereverARestartWas) {
  RunSpec spec;
  spec.epochs = 1;
  int ended = 0;
  for (spec.seed = 0; spec.seed < 12; ++spec.seed) {
    const Ran ran = RunEveryWay(Changing(9), spec);
    if (ran.error.ok()) continue;
    EXPECT_THAT(std::string(ran.error.message()), HasSubstr("gave no rows in pass"));
    ended += ran.rows.empty() ? 0 : 1;
  }
  EXPECT_GE(ended, 3);
}

// Zip holds a message of its input, and goes on after those that a filter emptied: before the first row of a pass that
// must not look as if the pass had rows.
TEST(Repeat, EndlesslyEndsAtAPassWithoutRowsBelowZip) {
  RunSpec spec;
  spec.epochs = 1;
  for (spec.seed = 0; spec.seed < 12; ++spec.seed) {
    GraphBuilder builder = Changing(9);
    builder.Add("Range", {}, {{"stop", IntValue(9)}});
    builder.Add("rename", {5}, {{"mapping", ir::PairsValue({{"value", "other"}})}});
    builder.Add("zip", {4, 6});
    RunEveryWay(builder, spec);
  }
}

TEST(Repeat, OverNothingIsNothing) { EXPECT_TRUE(RunEveryWay(Repeated(0, 3)).rows.empty()); }

}  // namespace
}  // namespace headrace
