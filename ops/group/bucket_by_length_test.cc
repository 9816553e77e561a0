#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/graph.pb.h"
#include "ops/testing/counted_rows.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntsValue;
using ir::IntValue;
using ir::StringValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using BucketByLengthInts = std::vector<int64_t>;

// Row i has the number i, and `lengths[i]` times i.
RunSpec Lengths(BucketByLengthInts lengths) {
  RunSpec spec;
  BindIterator(spec.bindings, "rows", [lengths](uint64_t, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
    if (i >= lengths.size()) return std::vector<Tensor>();
    const auto number = static_cast<int64_t>(i);
    return std::vector<Tensor>{Int64Tensor({}, {number}),
                               Int64s(BucketByLengthInts(static_cast<size_t>(lengths[i]), number))};
  });
  return spec;
}

GraphBuilder::Given Buckets(BucketByLengthInts boundaries, BucketByLengthInts sizes, std::string_view pad = "longest") {
  return {{"column", StringValue("tokens")},
          {"boundaries", IntsValue(std::move(boundaries))},
          {"batch_sizes", IntsValue(std::move(sizes))},
          {"pad", StringValue(std::string(pad))},
          {"pad_value", IntValue(-1)}};
}

ir::proto::Value RowTypes() {
  return ir::ColumnsValue(ir::Schema{{{"number", ir::ColumnType::Of(DType::kInt64, {})},
                                      {"tokens", ir::ColumnType::Of(DType::kInt64, {ir::kUnknownDim})}}});
}

GraphBuilder InBuckets(int64_t group, const GraphBuilder::Given& buckets) {
  GraphBuilder builder;
  builder.Add("Generator", {}, {{"function", ir::ReferenceValue("rows")}, {"columns", RowTypes()}});
  builder.Add("test_group", {0}, {{"rows", IntValue(group)}});
  builder.Add("bucket_by_length", {1}, buckets);
  return builder;
}

// Rows of a source with random access: row i is as in Lengths.
GraphBuilder NumberedInBuckets(const BucketByLengthInts& lengths, bool shuffled, const GraphBuilder::Given& buckets,
                               RunSpec& spec) {
  spec.bindings.functions["row"] = std::make_shared<FakeFunction>(
      [lengths](absl::Span<const Tensor> inputs, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
        const int64_t number = inputs[0].value<int64_t>();
        return std::vector<Tensor>{
            Int64s(BucketByLengthInts(static_cast<size_t>(lengths[static_cast<size_t>(number)]), number))};
      });
  GraphBuilder builder;
  builder.Add("Range", {},
              {{"stop", IntValue(static_cast<int64_t>(lengths.size()))}, {"shuffle", ir::BoolValue(shuffled)}});
  builder.Add("map", {0});
  builder.Step("PythonFunction", {"value"}, {"tokens"}, {{"function", ir::ReferenceValue("row")}});
  builder.Add("test_counted", {1});
  builder.Add("bucket_by_length", {2}, buckets);
  return builder;
}

BucketByLengthInts DrawnLengths(std::mt19937& draws, size_t rows) {
  BucketByLengthInts lengths(rows);
  for (int64_t& length : lengths) length = static_cast<int64_t>(draws() % (1 + draws() % 9));
  return lengths;
}

// The numbers of the rows of each batch.
std::vector<BucketByLengthInts> NumbersOf(const Ran& ran, uint64_t epoch = 0) {
  std::vector<BucketByLengthInts> batches;
  for (const RanRow& row : ran.rows) {
    if (row.epoch != epoch) continue;
    const Tensor& numbers = row.columns[0];
    batches.emplace_back(numbers.data<int64_t>(), numbers.data<int64_t>() + numbers.elements());
  }
  return batches;
}

std::vector<BucketByLengthInts> Expected(const BucketByLengthInts& lengths, const BucketByLengthInts& boundaries,
                                         const BucketByLengthInts& sizes) {
  std::map<size_t, BucketByLengthInts> held;
  std::vector<BucketByLengthInts> batches;
  for (size_t i = 0; i < lengths.size(); ++i) {
    size_t bucket = 0;
    while (bucket < boundaries.size() && lengths[i] >= boundaries[bucket]) ++bucket;
    held[bucket].push_back(static_cast<int64_t>(i));
    if (static_cast<int64_t>(held[bucket].size()) < sizes[bucket]) continue;
    batches.push_back(held[bucket]);
    held.erase(bucket);
  }
  for (const auto& [bucket, rows] : held) batches.push_back(rows);
  return batches;
}

class BucketByLength : public ::testing::TestWithParam<int64_t> {};

TEST_P(BucketByLength, PadsToTheLongest) {
  const Ran ran = RunEveryWay(InBuckets(GetParam(), Buckets({2, 4}, {3, 2, 1})), Lengths({1, 3, 0, 5, 2, 1, 3}));
  EXPECT_THAT(ran.Texts(), ElementsAre("number=int64 (1,) [3], tokens=int64 (1, 5) [3 3 3 3 3]",
                                       "number=int64 (2,) [1 4], tokens=int64 (2, 3) [1 1 1 4 4 -1]",
                                       "number=int64 (3,) [0 2 5], tokens=int64 (3, 1) [0 -1 5]",
                                       "number=int64 (1,) [6], tokens=int64 (1, 3) [6 6 6]"));
  EXPECT_EQ(ran.Texts(1), ran.Texts(0));
  EXPECT_EQ(ran.rows[1].id.key, 1u) << "its first row's";
  EXPECT_EQ(ran.cardinality, Cardinality::Unknown());
}

TEST_P(BucketByLength, PadsToTheBoundary) {
  const Ran ran = RunEveryWay(InBuckets(GetParam(), Buckets({3, 5}, {2, 1, 1}, "boundary")), Lengths({1, 3, 1}));
  EXPECT_THAT(ran.Texts(), ElementsAre("number=int64 (1,) [1], tokens=int64 (1, 4) [1 1 1 -1]",
                                       "number=int64 (2,) [0 2], tokens=int64 (2, 2) [0 -1 2 -1]"));
}

TEST_P(BucketByLength, PadsAColumnWithAValueOfItsOwn) {
  GraphBuilder::Given buckets = Buckets({4}, {2, 1});
  buckets.emplace_back("pad_columns", ir::StringsValue({"tokens"}));
  buckets.emplace_back("pad_values", ir::FloatsValue({-100}));
  EXPECT_THAT(RunEveryWay(InBuckets(GetParam(), buckets), Lengths({2, 1})).Texts(),
              ElementsAre("number=int64 (2,) [0 1], tokens=int64 (2, 2) [0 0 1 -100]"));
}

TEST_P(BucketByLength, ResumesExactlyWhateverIsHeld) {
  std::mt19937 draws(11);
  const auto draw = [&draws](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(draws);
  };
  for (int trial = 0; trial < 8; ++trial) {
    BucketByLengthInts lengths(static_cast<size_t>(draw(0, 25)));
    for (int64_t& length : lengths) length = draw(0, draw(1, 9));
    const BucketByLengthInts boundaries = {draw(1, 3), draw(4, 6), 8};
    const BucketByLengthInts sizes = {draw(1, 4), draw(1, 4), draw(1, 4), draw(1, 3)};
    const Ran ran = RunEveryWay(InBuckets(GetParam(), Buckets(boundaries, sizes)), Lengths(lengths));
    EXPECT_EQ(NumbersOf(ran), Expected(lengths, boundaries, sizes)) << "trial " << trial;
    EXPECT_EQ(NumbersOf(ran, 1), Expected(lengths, boundaries, sizes)) << "trial " << trial;
  }
}

TEST_P(BucketByLength, MayEndEarlyAndBeTakenApart) {
  GraphBuilder builder = InBuckets(GetParam(), Buckets({2}, {2, 3}));
  builder.Add("project", {2}, {{"columns", ir::StringsValue({"number"})}});
  builder.Add("unbatch", {3});
  builder.Add("take", {4}, {{"count", IntValue(6)}});
  EXPECT_EQ(RunEveryWay(builder, Lengths({5, 1, 5, 1, 1, 5, 5, 1, 1})).Ints(), (BucketByLengthInts{1, 3, 0, 2, 5, 4}));
}

INSTANTIATE_TEST_SUITE_P(Grouped, BucketByLength, ::testing::Values(1, 2, 5));

TEST(BucketByLengthOperator, ResumesExactlyOverRandomAccess) {
  std::mt19937 draws(17);
  for (int trial = 0; trial < 8; ++trial) {
    const BucketByLengthInts lengths = DrawnLengths(draws, 1 + draws() % 25);
    const BucketByLengthInts boundaries = {2, 4, 6};
    const BucketByLengthInts sizes = {3, static_cast<int64_t>(1 + draws() % 4), 4, 3};
    RunSpec spec;
    const bool shuffled = trial % 2 == 1;
    const GraphBuilder builder = NumberedInBuckets(lengths, shuffled, Buckets(boundaries, sizes), spec);
    const Ran ran = RunEveryWay(builder, spec);
    if (!shuffled) {
      EXPECT_EQ(NumbersOf(ran, 1), Expected(lengths, boundaries, sizes)) << "trial " << trial;
    }
    RunRanks(builder, 2, spec);
  }
}

// What stands above may end epochs early, count passes and keep checkpoints.
TEST(BucketByLengthOperator, ResumesExactlyBelowOthers) {
  std::mt19937 draws(19);
  const BucketByLengthInts lengths = DrawnLengths(draws, 20);
  RunSpec spec;
  GraphBuilder builder = NumberedInBuckets(lengths, true, Buckets({2, 4}, {3, 4, 5}), spec);
  builder.Add("take", {3}, {{"count", IntValue(5)}});
  builder.Add("repeat", {4}, {{"count", IntValue(3)}});
  builder.Add("shuffle", {5}, {{"window", IntValue(3)}});
  builder.Add("project", {6}, {{"columns", ir::StringsValue({"value"})}});
  builder.Add("unbatch", {7});
  builder.Add("skip", {8}, {{"count", IntValue(2)}});
  builder.Add("batch", {9}, {{"size", IntValue(4)}});
  RunEveryWay(builder, spec);
}

TEST(BucketByLengthOperator, ResumesExactlyBelowWhatJoinsCheckpoints) {
  std::mt19937 draws(23);
  for (const std::string_view op : {"concat", "zip", "cache"}) {
    RunSpec spec;
    GraphBuilder builder = NumberedInBuckets(DrawnLengths(draws, 15), true, Buckets({2, 4}, {3, 4, 5}), spec);
    if (op == "cache") {
      builder.Add("cache", {3});
    } else {
      builder.Add("project", {3}, {{"columns", ir::StringsValue({"value"})}});
      if (op == "concat") builder.Add(op, {4, 4});
      if (op == "zip") builder.Add("rename", {4}, {{"mapping", ir::PairsValue({{"value", "number"}})}});
      if (op == "zip") builder.Add(op, {3, 5});
    }
    RunEveryWay(builder, spec);
  }
}

TEST(BucketByLengthOperator, ReadsHeldRowsAloneAgain) {
  BucketByLengthInts lengths(300, 1);
  // One that waits from early on, and what is held of the others.
  lengths[5] = 9;
  RunSpec spec;
  const ir::proto::Graph graph = *NumberedInBuckets(lengths, false, Buckets({4}, {4, 4}), spec).Build();
  PipelineOptions options = OptionsOf(spec);
  options.epochs = {0, 0};
  const absl::StatusOr<Ran> ran = RunOnce(graph, options);
  ASSERT_TRUE(ran.ok()) << ran.status();
  ASSERT_EQ(ran->rows.size(), 76u);
  for (const size_t batch : {0, 1, 40, 74, 75}) {
    const Position& after = ran->rows[batch].after;
    const uint64_t read = after.checkpoint[0];
    const uint64_t held = after.checkpoint.back();
    EXPECT_EQ(after.checkpoint.size(), 2 + held);
    EXPECT_LE(held, 1u + 3u);
    counted_rows = 0;
    options.checkpoint = after.checkpoint;
    options.delivered = after.delivered;
    const absl::StatusOr<Ran> rest = RunOnce(graph, options);
    ASSERT_TRUE(rest.ok()) << rest.status();
    EXPECT_EQ(rest->rows.size(), 75 - batch);
    EXPECT_EQ(static_cast<uint64_t>(counted_rows), held + 300 - read);
  }
}

TEST(BucketByLengthOperator, FormsBatchesOfEachRank) {
  const std::vector<Ran> ranks = RunRanks(InBuckets(1, Buckets({2}, {2, 2})), 2, Lengths({1, 5, 1, 1, 5, 1, 1, 1}));
  EXPECT_EQ(NumbersOf(ranks[0]), (std::vector<BucketByLengthInts>{{0, 2}, {6}, {4}}));
  EXPECT_EQ(NumbersOf(ranks[1]), (std::vector<BucketByLengthInts>{{3, 5}, {7}, {1}}));
}

TEST(BucketByLengthOperator, RefusesEqualRanks) {
  RunSpec spec = Lengths({1, 2});
  spec.shard = {0, 2, 0, ShardAssignment::Even::kPad};
  EXPECT_THAT(Refusal(InBuckets(1, Buckets({2}, {2, 2})), spec), HasSubstr("even= needs a known number of rows"));
}

TEST(BucketByLengthOperator, LeavesOutRowsThatFail) {
  GraphBuilder builder;
  builder.SkipFailed(3);
  builder.Add("Generator", {}, {{"function", ir::ReferenceValue("rows")}, {"columns", RowTypes()}});
  builder.Add("test_fail", {0}, {{"values", IntsValue({0, 3, 7})}});
  builder.Add("bucket_by_length", {1}, Buckets({2}, {2, 2}));
  const Ran ran = RunEveryWay(builder, Lengths({1, 5, 1, 5, 1, 5, 1, 1}));
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_EQ(NumbersOf(ran), (std::vector<BucketByLengthInts>{{2, 4}, {1, 5}, {6}}));
}

TEST(BucketByLengthOperator, LeavesOutNumberedRowsThatFail) {
  std::mt19937 draws(29);
  for (const bool shuffled : {false, true}) {
    RunSpec spec;
    GraphBuilder builder;
    builder.SkipFailed(4);
    builder.Add("Range", {}, {{"stop", IntValue(18)}, {"shuffle", ir::BoolValue(shuffled)}});
    builder.Add("test_fail", {0}, {{"values", ir::IntsValue({0, 3, 4, 17})}});
    const BucketByLengthInts lengths = DrawnLengths(draws, 18);
    NumberedInBuckets(lengths, false, {}, spec);
    builder.Add("map", {1});
    builder.Step("PythonFunction", {"value"}, {"tokens"}, {{"function", ir::ReferenceValue("row")}});
    builder.Add("bucket_by_length", {2}, Buckets({2, 4}, {3, 4, 5}));
    const Ran ran = RunEveryWay(builder, spec);
    EXPECT_TRUE(ran.error.ok()) << ran.error;
  }
}

TEST(BucketByLengthOperator, NamesTheRowThatIsTooLong) {
  const Ran ran = RunEveryWay(InBuckets(1, Buckets({3}, {1, 1}, "boundary")), Lengths({1, 2, 3, 1}));
  EXPECT_EQ(ran.rows.size(), 2u);
  EXPECT_THAT(ran.error.ToString(), HasSubstr("too long for pad=\"boundary\""));
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kRow), "epoch 0, key 2");
}

TEST(BucketByLengthOperator, RefusesBucketsThatCannotBe) {
  const auto refusal = [](BucketByLengthInts boundaries, BucketByLengthInts sizes) {
    return Refusal(InBuckets(1, Buckets(std::move(boundaries), std::move(sizes))), Lengths({}));
  };
  EXPECT_THAT(refusal({}, {1}), HasSubstr("boundaries is empty; give at least one"));
  EXPECT_THAT(refusal({2, 2}, {1, 1, 1}), HasSubstr("boundaries[1] is 2, not above the one before it, 2"));
  EXPECT_THAT(refusal({2, 4}, {1, 1}), HasSubstr("has 2 boundaries and 2 batch_sizes"));
  EXPECT_THAT(refusal({0}, {1, 1}), HasSubstr("boundaries"));
  GraphBuilder scalar;
  scalar.Add("Range", {}, {{"stop", IntValue(3)}});
  scalar.Add("bucket_by_length", {0},
             {{"column", StringValue("value")}, {"boundaries", IntsValue({2})}, {"batch_sizes", IntsValue({1, 1})}});
  EXPECT_THAT(Refusal(scalar), HasSubstr("column \"value\" is int64 (): it has no first axis to measure"));
}

}  // namespace
}  // namespace headrace
