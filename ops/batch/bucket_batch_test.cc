#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/exec/iteration.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntsValue;
using ir::IntValue;
using ::testing::ElementsAre;
using BucketBatchInts = std::vector<int64_t>;

// Seven numbers, of which 2 and 4 are long.
GraphBuilder FailingBucketBatch(const BucketBatchInts& failing) {
  const ir::Schema lengths{{{"value", ir::ColumnType::Of(DType::kInt64, {})}}};
  GraphBuilder::Given buckets{
      {"column", ir::StringValue("value")}, {"boundaries", IntsValue({4})}, {"batch_sizes", IntsValue({3, 1})}};
  GraphBuilder builder;
  builder.SkipFailed(100);
  builder.Add("Range", {}, {{"stop", IntValue(7)}});
  builder.Add("Numpy", {}, {{"arrays", ir::ReferenceValue("lengths")}, {"columns", ir::ColumnsValue(lengths)}});
  builder.Add("bucket_order", {0, 1}, buckets);
  builder.Add("test_fail", {2}, {{"values", IntsValue(failing)}});
  builder.Add("map", {3});
  builder.Step("OneHot", {"value"}, {"x"}, {{"num_classes", IntValue(8)}});
  buckets[0].second = ir::StringValue("x");
  builder.Add("bucket_batch", {4}, buckets);
  builder.Add("project", {5}, {{"columns", ir::StringsValue({"value"})}});
  return builder;
}

RunSpec Lengths() {
  RunSpec spec;
  spec.bindings.arrays["lengths"].columns = {{"value", Int64s({1, 1, 9, 1, 9, 1, 1})}};
  return spec;
}

std::vector<std::string> BatchesOf(const BucketBatchInts& failing) {
  const Ran ran = RunEveryWay(FailingBucketBatch(failing), Lengths());
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_EQ(ran.Texts(0), ran.Texts(1));
  return ran.Texts();
}

TEST(BucketBatch, JoinsEachRun) {
  EXPECT_THAT(BatchesOf({}), ElementsAre("value=int64 (1,) [2]", "value=int64 (3,) [0 1 3]", "value=int64 (1,) [4]",
                                         "value=int64 (2,) [5 6]"));
}

TEST(BucketBatch, IsShorterWhereRowsFail) {
  EXPECT_THAT(BatchesOf({0}), ElementsAre("value=int64 (1,) [2]", "value=int64 (2,) [1 3]", "value=int64 (1,) [4]",
                                          "value=int64 (2,) [5 6]"));
  EXPECT_THAT(BatchesOf({3, 5}), ElementsAre("value=int64 (1,) [2]", "value=int64 (2,) [0 1]", "value=int64 (1,) [4]",
                                             "value=int64 (1,) [6]"));
  EXPECT_THAT(BatchesOf({2, 5, 6}), ElementsAre("value=int64 (3,) [0 1 3]", "value=int64 (1,) [4]"))
      << "a batch whose rows all fail is not given";
}

TEST(BucketBatch, TakesNoRowOfTheNextWhereRanksAreEven) {
  RunSpec spec = Lengths();
  spec.shard.even = ShardAssignment::Even::kPad;
  const std::vector<Ran> ranks = RunRanks(FailingBucketBatch({0, 6}), 2, spec);
  EXPECT_THAT(ranks[0].Texts(), ElementsAre("value=int64 (1,) [2]", "value=int64 (1,) [4]"));
  EXPECT_THAT(ranks[1].Texts(), ElementsAre("value=int64 (2,) [1 3]", "value=int64 (1,) [5]"));
}

}  // namespace
}  // namespace headrace
