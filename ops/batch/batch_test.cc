#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "engine/exec/iteration.h"
#include "io/files/testing/temporary_folder.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GraphBuilder BatchedBatch(int64_t rows, int64_t size, bool drop_remainder = false) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  builder.Add("batch", {0}, {{"size", IntValue(size)}, {"drop_remainder", BoolValue(drop_remainder)}});
  return builder;
}

TEST(Batch, JoinsRowsAlongANewAxis) {
  const Ran ran = RunEveryWay(BatchedBatch(5, 2));
  EXPECT_THAT(ran.Texts(0), ElementsAre("value=int64 (2,) [0 1]", "value=int64 (2,) [2 3]", "value=int64 (1,) [4]"));
  EXPECT_EQ(ran.Texts(0), ran.Texts(1));
}

TEST(Batch, HasTheIdentityOfItsFirstRow) { EXPECT_THAT(RunEveryWay(BatchedBatch(5, 2)).Keys(), ElementsAre(0, 2, 4)); }

TEST(Batch, DropsTheRemainder) {
  EXPECT_THAT(RunEveryWay(BatchedBatch(5, 2, true)).Texts(0),
              ElementsAre("value=int64 (2,) [0 1]", "value=int64 (2,) [2 3]"));
}

TEST(Batch, IsMadeInRangesOfBatches) {
  RunSpec spec;
  spec.first_epoch = 2;
  for (const bool drop_remainder : {false, true}) {
    ExpectRanges(BatchedBatch(23, 3, drop_remainder), spec, {{1, 4}, {6, 9}, {0, 1}, {7, 8}, {0, 99}});
  }
}

TEST(Batch, OfOneKeepsTheAxis) {
  EXPECT_THAT(RunEveryWay(BatchedBatch(2, 1)).Texts(0), ElementsAre("value=int64 (1,) [0]", "value=int64 (1,) [1]"));
}

TEST(Batch, LargerThanTheEpochGivesWhatThereIs) {
  EXPECT_THAT(RunEveryWay(BatchedBatch(3, 1'000'000'000)).Texts(0), ElementsAre("value=int64 (3,) [0 1 2]"));
}

TEST(Batch, OfBatchesAddsAnAxis) {
  GraphBuilder builder = BatchedBatch(4, 2);
  builder.Add("batch", {1}, {{"size", IntValue(2)}});
  EXPECT_THAT(RunEveryWay(builder).Texts(0), ElementsAre("value=int64 (2, 2) [0 1 2 3]"));
}

TEST(Batch, OfUnequalRowsNamesTheColumnAndBothShapes) {
  GraphBuilder builder = BatchedBatch(5, 2);
  builder.Add("batch", {1}, {{"size", IntValue(3)}});
  const Ran ran = RunEveryWay(builder);
  EXPECT_THAT(std::string(ran.error.message()), HasSubstr("column \"value\""));
  EXPECT_THAT(std::string(ran.error.message()), HasSubstr("int64 (2,) and int64 (1,)"));
}

TEST(Batch, PadsUnequalRowsWhenAsked) {
  GraphBuilder builder = BatchedBatch(5, 2);
  builder.Add("batch", {1}, {{"size", IntValue(3)}, {"pad", BoolValue(true)}, {"pad_value", ir::FloatValue(-1)}});
  EXPECT_THAT(RunEveryWay(builder).Texts(0), ElementsAre("value=int64 (3, 2) [0 1 2 3 4 -1]"));
}

TEST(Batch, CrossesThePassesOfARepeat) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(3)}});
  builder.Add("repeat", {0}, {{"count", IntValue(2)}});
  builder.Add("batch", {1}, {{"size", IntValue(4)}});
  EXPECT_THAT(RunEveryWay(builder).Texts(0), ElementsAre("value=int64 (4,) [0 1 2 0]", "value=int64 (2,) [1 2]"));
}

TEST(Batch, DeliversCompleteBatchesBeforeAnError) {
  GraphBuilder builder = BatchedBatch(7, 2);  // 2, 2, 2, 1
  builder.Add("batch", {1}, {{"size", IntValue(2)}});
  const Ran ran = RunEveryWay(builder);
  EXPECT_THAT(ran.Texts(0), ElementsAre("value=int64 (2, 2) [0 1 2 3]"));
  EXPECT_FALSE(ran.error.ok());
}

TEST(Batch, RefusesASizeOfZero) { EXPECT_THAT(Refusal(BatchedBatch(5, 0)), HasSubstr("size is 0")); }

TEST(Batch, MarksPaddedRows) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(3)}});
  builder.Add("batch", {0}, {{"size", IntValue(2)}, {"mark_padding", BoolValue(true)}});
  RunSpec spec;
  spec.shard.even = ShardAssignment::Even::kPad;
  const std::vector<Ran> ranks = RunRanks(builder, 2, spec);
  EXPECT_THAT(ranks[0].Texts(0), ElementsAre("value=int64 (2,) [0 2], _pad=bool (2,) [0 0]"));
  EXPECT_THAT(ranks[1].Texts(0), ElementsAre("value=int64 (2,) [1 0], _pad=bool (2,) [0 1]"));
}

// Of each source that gives a stream, the rows of a batch for which its messages are made.
TEST(Batch, IsWhatMessagesOfAStreamAreMadeFor) {
  TemporaryFolder folder;
  folder.Write("a.txt", "one\ntwo\n");
  const auto joined = [&folder](const std::function<void(GraphBuilder&)>& add, int group = 0) {
    GraphBuilder builder;
    builder.Add("Text", {}, {{"patterns", ir::StringsValue({folder / "*.txt"})}});
    add(builder);
    IterateOptions options;
    options.group = group;
    return PlanRun(*builder.Build(), options)->plan.stages.back().joined_rows;
  };
  const auto batch = [](uint32_t input) {
    return [input](GraphBuilder& builder) { builder.Add("batch", {input}, {{"size", IntValue(6)}}); };
  };
  EXPECT_EQ(joined([](GraphBuilder&) {}), 0);
  EXPECT_EQ(joined(batch(0)), 6);
  EXPECT_EQ(joined(batch(0), 4), 0);
  // Across what loses no row.
  EXPECT_EQ(joined([&](GraphBuilder& builder) {
              builder.Add("rename", {0}, {{"mapping", ir::PairsValue({{"line", "text"}})}});
              builder.Add("take", {1}, {{"count", IntValue(9)}});
              batch(2)(builder);
            }),
            6);
  EXPECT_EQ(joined([&](GraphBuilder& builder) {
              builder.Add("shuffle", {0}, {{"window", IntValue(4)}});
              batch(1)(builder);
            }),
            6);
}

}  // namespace
}  // namespace headrace
