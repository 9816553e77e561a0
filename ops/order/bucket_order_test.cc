#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/exec/iteration.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/row_values.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntsValue;
using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Ints = std::vector<int64_t>;
using Batches = std::vector<Ints>;

const Ints kBoundaries = {4, 8};
const Ints kSizes = {3, 2, 1};

Ints RandomLengths(size_t rows, uint64_t seed) {
  std::mt19937_64 random(seed);
  Ints lengths(rows);
  for (int64_t& length : lengths) length = static_cast<int64_t>(random() % 11);
  return lengths;
}

size_t BucketOf(int64_t length) { return length < 4 ? 0 : length < 8 ? 1 : 2; }

// What bucket_by_length would give of the rows in that order.
Batches Expected(const Ints& rows, const Ints& lengths) {
  Batches batches;
  std::map<size_t, Ints> open;
  for (const int64_t row : rows) {
    const size_t bucket = BucketOf(lengths[static_cast<size_t>(row)]);
    open[bucket].push_back(row);
    if (open[bucket].size() < static_cast<size_t>(kSizes[bucket])) continue;
    batches.push_back(std::exchange(open[bucket], {}));
  }
  for (const auto& [bucket, left] : open) {
    if (!left.empty()) batches.push_back(left);
  }
  return batches;
}

RunSpec Lengths(const Ints& lengths, uint64_t epochs = 2) { return WithRowValues(Int64s(lengths), epochs); }

uint32_t AddOrder(GraphBuilder& builder, uint32_t rows) {
  const uint32_t lengths = AddRowValues(builder);
  return builder.Add("bucket_order", {rows, lengths},
                     {{"column", ir::StringValue("value")},
                      {"boundaries", IntsValue(kBoundaries)},
                      {"batch_sizes", IntsValue(kSizes)}});
}

// Of rows with a column that has an axis.
void AddBatch(GraphBuilder& builder, uint32_t rows) {
  const uint32_t map = builder.Add("map", {rows});
  builder.Step("OneHot", {"value"}, {"x"}, {{"num_classes", IntValue(50)}});
  builder.Add(
      "bucket_batch", {map},
      {{"column", ir::StringValue("x")}, {"boundaries", IntsValue(kBoundaries)}, {"batch_sizes", IntsValue(kSizes)}});
}

GraphBuilder Bucketed(size_t rows, bool shuffle = false, bool batch = true) {
  GraphBuilder builder;
  const uint32_t range =
      builder.Add("Range", {}, {{"stop", IntValue(static_cast<int64_t>(rows))}, {"shuffle", ir::BoolValue(shuffle)}});
  const uint32_t order = AddOrder(builder, range);
  if (batch) AddBatch(builder, order);
  return builder;
}

Batches BatchesOf(const Ran& ran, uint64_t epoch = 0) {
  Batches batches;
  for (const RanRow& row : ran.rows) {
    if (row.epoch != epoch) continue;
    const auto* const values = row.columns[0].data<int64_t>();
    batches.emplace_back(values, values + row.columns[0].dim(0));
  }
  return batches;
}

Ints Rows(size_t count) {
  Ints rows(count);
  for (size_t i = 0; i < count; ++i) rows[i] = static_cast<int64_t>(i);
  return rows;
}

TEST(BucketOrder, FormsTheBatchesOfBucketByLength) {
  for (const size_t rows : {1, 2, 7, 40}) {
    const Ints lengths = RandomLengths(rows, rows);
    const Ran ran = RunEveryWay(Bucketed(rows), Lengths(lengths));
    EXPECT_EQ(ran.error, absl::OkStatus());
    EXPECT_EQ(BatchesOf(ran), Expected(Rows(rows), lengths));
    EXPECT_EQ(BatchesOf(ran, 1), Expected(Rows(rows), lengths));
    EXPECT_EQ(ran.cardinality, Cardinality::Of(Expected(Rows(rows), lengths).size()));
  }
}

TEST(BucketOrder, FollowsTheOrderOfEachEpoch) {
  const Ints lengths = RandomLengths(30, 5);
  GraphBuilder order;
  order.Add("Range", {}, {{"stop", IntValue(30)}, {"shuffle", ir::BoolValue(true)}});
  const Ran shuffled = *RunOnce(*order.Build(), OptionsOf(Lengths(lengths)));
  const Ran ran = RunEveryWay(Bucketed(30, true), Lengths(lengths));
  EXPECT_EQ(BatchesOf(ran), Expected(shuffled.Ints(), lengths));
  EXPECT_EQ(BatchesOf(ran, 1), Expected(shuffled.Ints(0, 1), lengths));
  EXPECT_NE(shuffled.Ints(), shuffled.Ints(0, 1));
}

TEST(BucketOrder, GivesItsRowsOneByOneWhereNothingJoinsThem) {
  const Ints lengths = RandomLengths(25, 9);
  Ints expected;
  for (const Ints& batch : Expected(Rows(25), lengths)) expected.insert(expected.end(), batch.begin(), batch.end());
  EXPECT_EQ(RunEveryWay(Bucketed(25, false, false), Lengths(lengths)).Ints(), expected);
}

TEST(BucketOrder, IsShardedInWholeBatches) {
  const Ints lengths = RandomLengths(33, 3);
  const Batches whole = Expected(Rows(33), lengths);
  const std::vector<Ran> ranks = RunRanks(Bucketed(33), 3, Lengths(lengths));
  for (size_t rank = 0; rank < 3; ++rank) {
    Batches expected;
    for (size_t batch = rank; batch < whole.size(); batch += 3) expected.push_back(whole[batch]);
    EXPECT_EQ(BatchesOf(ranks[rank]), expected);
  }
}

TEST(BucketOrder, DropsOrRepeatsWholeBatchesForEvenRanks) {
  const Ints lengths(31, 5);
  const Batches whole = Expected(Rows(31), lengths);
  ASSERT_EQ(whole.size(), 16);
  for (const auto even : {ShardAssignment::Even::kDrop, ShardAssignment::Even::kPad}) {
    RunSpec spec = Lengths(lengths);
    spec.shard.even = even;
    const std::vector<Ran> ranks = RunRanks(Bucketed(31), 5, spec);
    const bool pads = even == ShardAssignment::Even::kPad;
    const size_t each = whole.size() / 5 + (pads ? 1 : 0);
    for (size_t rank = 0; rank < 5; ++rank) {
      Batches expected;
      for (size_t i = 0; i < each; ++i) expected.push_back(whole[(rank + 5 * i) % whole.size()]);
      EXPECT_EQ(BatchesOf(ranks[rank]), expected);
    }
  }
}

TEST(BucketOrder, NumbersRowsAsTheSourcesDo) {
  // Rows 6 to 9, then 1 to 3, of two ranges of 10; lengths are those of all 20.
  GraphBuilder builder;
  const uint32_t first = builder.Add("Range", {}, {{"stop", IntValue(10)}});
  const uint32_t second = builder.Add("Range", {}, {{"stop", IntValue(10)}});
  const uint32_t ends = builder.Add("skip", {first}, {{"count", IntValue(6)}});
  const uint32_t begins = builder.Add("take", {second}, {{"count", IntValue(4)}});
  const uint32_t later = builder.Add("skip", {begins}, {{"count", IntValue(1)}});
  const uint32_t both = builder.Add("concat", {ends, later});
  AddBatch(builder, AddOrder(builder, both));
  Ints lengths(20, 9);
  for (const size_t short_one : {6, 8, 9, 11, 13}) lengths[short_one] = 1;
  EXPECT_EQ(BatchesOf(RunEveryWay(builder, Lengths(lengths))), (Batches{{7}, {6, 8, 9}, {2}, {1, 3}}));
}

TEST(BucketOrder, FormsBatchesOfAMixture) {
  GraphBuilder builder;
  const uint32_t first = builder.Add("Range", {}, {{"stop", IntValue(9)}});
  const uint32_t second = builder.Add("Range", {}, {{"start", IntValue(9)}, {"stop", IntValue(14)}});
  GraphBuilder mixture = builder;
  const GraphBuilder::Given given{{"weights", ir::FloatsValue({1, 2})}, {"stop", ir::StringValue("first")}};
  mixture.Add("mix", {first, second}, given);
  const Ints lengths = RandomLengths(14, 12);
  const Ran mixed = *RunOnce(*mixture.Build(), OptionsOf(Lengths(lengths, 4)));
  const uint32_t mix = builder.Add("mix", {first, second}, given);
  AddBatch(builder, AddOrder(builder, mix));
  const Ran ran = RunEveryWay(builder, Lengths(lengths, 4));
  for (uint64_t epoch = 0; epoch < 4; ++epoch) {
    EXPECT_EQ(BatchesOf(ran, epoch), Expected(mixed.Ints(0, epoch), lengths)) << "epoch " << epoch;
  }
}

TEST(BucketOrder, RefusesStatesBehindABatch) {
  RunSpec spec = Lengths({9, 9, 9});
  PipelineOptions options = OptionsOf(spec);
  options.checkpoint = {1, 0};
  const Ran ran = *RunOnce(*Bucketed(3).Build(), options);
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kState);
  EXPECT_THAT(ran.error.message(), HasSubstr("pointed past the last row of a batch"));
  options.checkpoint = {10, 0};
  EXPECT_THAT(RunOnce(*Bucketed(3).Build(), options)->error.message(), HasSubstr("gave 10 rows of 9"));
}

TEST(BucketOrder, RefusesWhatItCannotForm) {
  EXPECT_THAT(Refusal(Bucketed(4), Lengths({1, 2, 3})),
              HasSubstr("a length for each of the 4 rows that the source has before take, select and samplers; got 3"));
  EXPECT_THAT(Refusal(Bucketed(3), Lengths({1, -2, 3})), HasSubstr("the length -2 for row 1"));
  GraphBuilder groups = Bucketed(6, false, false);
  groups.Add("batch", {2}, {{"size", IntValue(2)}});
  EXPECT_THAT(Refusal(groups, Lengths(Ints(6, 1))), HasSubstr("would cut the groups of 3"));
}

TEST(BucketOrder, FormsNoBatchOfNoRows) {
  const Ran ran = RunEveryWay(Bucketed(0), Lengths({}));
  EXPECT_EQ(ran.error, absl::OkStatus());
  EXPECT_THAT(ran.rows, IsEmpty());
  EXPECT_EQ(ran.cardinality, Cardinality::Of(0));
}

TEST(BucketOrder, RefusesValuesThatNobodyBegins) {
  GraphBuilder builder = Bucketed(3, false, false);
  const uint32_t rows = builder.Add("Range", {}, {{"stop", IntValue(9)}});
  const uint32_t order = builder.Add("bucket_order", {rows, 2},
                                     {{"column", ir::StringValue("value")},
                                      {"boundaries", IntsValue(kBoundaries)},
                                      {"batch_sizes", IntsValue(kSizes)}});
  AddBatch(builder, order);
  EXPECT_THAT(Refusal(builder, Lengths({9, 9, 9})), HasSubstr("from an order that begins anew in each epoch"));
}

TEST(BucketOrder, CountsWhatFormingTakes) {
  RunSpec spec = Lengths(Ints(2000, 1));
  PipelineOptions options = OptionsOf(spec);
  options.memory = 1 << 16;
  const absl::Status refused = RunOnce(*Bucketed(2000).Build(), options).status();
  EXPECT_EQ(KindOf(refused), ErrorKind::kResource);
  EXPECT_THAT(refused.message(), HasSubstr("to form batches of 2000 rows, more than half of the budget"));
}

TEST(BucketOrder, HasNoMoreRowsForACacheThanBatchesHold) {
  RunSpec spec = Lengths({9, 9, 1, 9, 1});
  GraphBuilder builder = Bucketed(5, false, false);
  builder.Add("map", {2});
  builder.Step("OneHot", {"value"}, {"x"}, {{"num_classes", IntValue(50)}});
  builder.Add("cache", {3});
  IterateOptions options;
  options.bindings = spec.bindings;
  EXPECT_EQ(PlanRun(*builder.Build(), options)->plan.caches.at(0).rows, 5);
  options.rank = 1;
  options.world = 2;
  EXPECT_EQ(PlanRun(*builder.Build(), options)->plan.caches.at(0).rows, 3) << "[9], [1 1]";
}

TEST(BucketOrder, TakesWholeBatchesAlone) {
  const Ints lengths(7, 1);
  for (const auto& [count, batches] : std::map<int64_t, Batches>{{3, {{0, 1, 2}}}, {6, {{0, 1, 2}, {3, 4, 5}}}}) {
    GraphBuilder builder = Bucketed(7, false, false);
    const uint32_t taken = builder.Add("take", {2}, {{"count", IntValue(count)}});
    AddBatch(builder, taken);
    EXPECT_EQ(BatchesOf(RunEveryWay(builder, Lengths(lengths))), batches);
  }
  GraphBuilder cut = Bucketed(7, false, false);
  AddBatch(cut, cut.Add("take", {2}, {{"count", IntValue(2)}}));
  EXPECT_THAT(Refusal(cut, Lengths(lengths)), HasSubstr("would cut the groups"));
  GraphBuilder rest = Bucketed(7, false, false);
  AddBatch(rest, rest.Add("skip", {2}, {{"count", IntValue(6)}}));
  EXPECT_EQ(BatchesOf(RunEveryWay(rest, Lengths(lengths))), (Batches{{6}}));
}

}  // namespace
}  // namespace headrace
