#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/row_id.h"
#include "core/testing/chi_square.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/passes.h"
#include "ops/order/occurrence_key.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/row_values.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

Tensor Doubles(const std::vector<double>& values) {
  Tensor tensor = *Tensor::Allocate(DType::kFloat64, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.mutable_data<double>());
  return tensor;
}

uint32_t RangeWeighted(GraphBuilder& builder, int64_t rows, bool shuffle = false) {
  return builder.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", BoolValue(shuffle)}});
}

void Weighted(GraphBuilder& builder, uint32_t rows, int64_t n, bool replacement = true) {
  const uint32_t weights = AddRowValues(builder, DType::kFloat64);
  GraphBuilder::Given given{{"column", ir::StringValue("value")}, {"replacement", BoolValue(replacement)}};
  if (n > 0) given.emplace_back("n", IntValue(n));
  builder.Add("Weighted", {rows, weights}, given);
}

RunSpec WithWeighted(const std::vector<double>& weights, uint64_t epochs = 2) {
  return WithRowValues(Doubles(weights), epochs);
}

GraphBuilder OverWeighted(int64_t rows, int64_t n, bool replacement = true) {
  GraphBuilder builder;
  Weighted(builder, RangeWeighted(builder, rows), n, replacement);
  return builder;
}

// The values of all epochs of one plain run.
std::vector<std::vector<int64_t>> Epochs(const GraphBuilder& builder, const RunSpec& spec) {
  const Ran ran = *RunOnce(*builder.Build(), OptionsOf(spec));
  std::vector<std::vector<int64_t>> epochs;
  for (uint64_t epoch = 0; epoch < spec.epochs; ++epoch) epochs.push_back(ran.Ints(0, epoch));
  return epochs;
}

TEST(Weighted, GivesSoManyRowsAndOthersInEachEpoch) {
  const Ran ran = RunEveryWay(OverWeighted(4, 30), WithWeighted({1, 0, 5, 1}));
  EXPECT_THAT(ran.Ints(0, 0), SizeIs(30));
  EXPECT_THAT(ran.Ints(0, 0), Each(::testing::Ne(1)));
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
  EXPECT_THAT(RunEveryWay(OverWeighted(4, 0), WithWeighted({1, 0, 5, 1})).Ints(), SizeIs(4));
}

TEST(Weighted, GivesARowAgainWithAnotherKey) {
  const Ran ran = RunEveryWay(OverWeighted(3, 12), WithWeighted({1, 1, 2}));
  std::map<int64_t, uint64_t> earlier;
  const std::vector<int64_t> rows = ran.Ints();
  const std::vector<uint64_t> keys = ran.Keys();
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint64_t occurrence = earlier[rows[i]]++;
    const auto row = static_cast<uint64_t>(rows[i]);
    EXPECT_EQ(keys[i], KeyOfOccurrence(row, 0, occurrence));
  }
}

TEST(Weighted, DrawsByWeight) {
  if (!kCountsChances) GTEST_SKIP();
  const std::vector<double> weights{1, 2, 0, 3, 4};
  std::vector<int64_t> counts(5), first(5), pairs(25);
  for (const std::vector<int64_t>& rows : Epochs(OverWeighted(5, 50), WithWeighted(weights, 2000))) {
    for (const int64_t row : rows) ++counts[static_cast<size_t>(row)];
    ++first[static_cast<size_t>(rows[0])];
    ++pairs[static_cast<size_t>(rows[0] * 5 + rows[1])];
  }
  const auto without_zeros = [](std::vector<int64_t> found) {
    std::erase(found, 0);
    return found;
  };
  EXPECT_LT(std::abs(ChiSquareDeviation(without_zeros(counts), {10'000, 20'000, 30'000, 40'000})), kMostDeviation);
  EXPECT_LT(std::abs(ChiSquareDeviation(without_zeros(first), {200, 400, 600, 800})), kMostDeviation) << "epochs";
  std::vector<double> expected;
  for (const double a : {1, 2, 3, 4}) {
    for (const double b : {1, 2, 3, 4}) expected.push_back(a * b / 100 * 2000);
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(without_zeros(pairs), expected)), kMostDeviation) << "one after the other";
}

TEST(Weighted, WithoutReplacementGivesEachRowOnce) {
  const Ran ran = RunEveryWay(OverWeighted(6, 5, false), WithWeighted({1, 1, 0, 9, 1, 1}));
  EXPECT_THAT(ran.Ints(), UnorderedElementsAre(0, 1, 3, 4, 5));
  EXPECT_THAT(ran.Keys(), UnorderedElementsAre(0, 1, 3, 4, 5));
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
}

TEST(Weighted, WithoutReplacementDrawsByTheSmallestWeightsToo) {
  const std::vector<double> tiny(6, 1e-310);
  const RunSpec spec = WithWeighted(tiny, 8);
  std::set<std::vector<int64_t>> orders;
  for (const std::vector<int64_t>& rows : Epochs(OverWeighted(6, 6, false), spec)) orders.insert(rows);
  EXPECT_GT(orders.size(), 4) << "not in the order of the rows";
}

// Each order of two of {1, 2, 3}, by weight: the first by its share of 6, the second by its share of what is left.
TEST(Weighted, WithoutReplacementDrawsByTheWeightsLeft) {
  if (!kCountsChances) GTEST_SKIP();
  std::vector<int64_t> counts(9);
  constexpr int kEpochs = 6000;
  for (const std::vector<int64_t>& rows : Epochs(OverWeighted(3, 2, false), WithWeighted({1, 2, 3}, kEpochs))) {
    ++counts[static_cast<size_t>(rows[0] * 3 + rows[1])];
  }
  std::vector<int64_t> found;
  std::vector<double> expected;
  for (size_t a = 0; a < 3; ++a) {
    for (size_t b = 0; b < 3; ++b) {
      const auto first = static_cast<double>(a + 1), second = static_cast<double>(b + 1);
      if (a == b) continue;
      found.push_back(counts[a * 3 + b]);
      expected.push_back(first / 6 * second / (6 - first) * kEpochs);
    }
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(found, expected)), kMostDeviation);
}

TEST(Weighted, IsShardedAboveItsDraws) {
  const std::vector<int64_t> whole = RunEveryWay(OverWeighted(5, 23), WithWeighted({1, 2, 3, 4, 5})).Ints();
  const std::vector<Ran> ranks = RunRanks(OverWeighted(5, 23), 3, WithWeighted({1, 2, 3, 4, 5}));
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(ranks[i % 3].Ints()[i / 3], whole[i]);
}

TEST(Weighted, NamesRowsByNumberBelowMapsAndShuffles) {
  GraphBuilder builder;
  const uint32_t shuffled =
      builder.Add("project", {RangeWeighted(builder, 4, true)}, {{"columns", ir::StringsValue({"value"})}});
  Weighted(builder, shuffled, 9);
  const ir::proto::Graph graph = *builder.Build();
  std::vector<std::string> ops;
  for (const ir::proto::Node& node : graph.nodes()) ops.push_back(node.op());
  EXPECT_THAT(ops, ElementsAre("Range", "Numpy", "Weighted", "project")) << "it is an order itself";
  EXPECT_THAT(RunEveryWay(builder, WithWeighted({0, 0, 1, 0})).Ints(), Each(2));
}

TEST(Weighted, TakesAColumnOfTheListing) {
  GraphBuilder builder;
  const uint32_t numbers = RangeWeighted(builder, 4);
  const uint32_t again = RangeWeighted(builder, 4, true);
  builder.Add("Weighted", {numbers, again}, {{"column", ir::StringValue("value")}, {"n", IntValue(40)}});
  const std::vector<int64_t> rows = RunEveryWay(builder).Ints();
  EXPECT_EQ(std::set<int64_t>(rows.begin(), rows.end()), (std::set<int64_t>{1, 2, 3})) << "by number, not shuffled";
}

TEST(Weighted, RefusesWeightsThatCannotBeDrawn) {
  EXPECT_THAT(Refusal(OverWeighted(3, 5), WithWeighted({1, 2})),
              HasSubstr("has 3 rows; give one of the weights for each, not 2"));
  EXPECT_THAT(Refusal(OverWeighted(2, 5), WithWeighted({1, -2})),
              HasSubstr("weights[1] is -2; weights are finite numbers, 0 or more"));
  EXPECT_THAT(Refusal(OverWeighted(2, 5), WithWeighted({std::nan(""), 1})), HasSubstr("weights[0] is nan"));
  EXPECT_THAT(Refusal(OverWeighted(2, 5), WithWeighted({0, 0})), HasSubstr("no weight above 0"));
  EXPECT_THAT(Refusal(OverWeighted(0, 5), WithWeighted({})), HasSubstr("has no rows to draw from"));
  EXPECT_THAT(Refusal(OverWeighted(3, 3, false), WithWeighted({1, 0, 2})),
              HasSubstr("draws 3 rows without replacement, but 2 of 3 rows have a weight above 0"));
  EXPECT_THAT(Refusal(OverWeighted(2, int64_t{1} << 40), WithWeighted({1, 2})),
              HasSubstr("more than half of the budget"));
}

TEST(Weighted, RefusesColumnsThatAreNoWeights) {
  GraphBuilder missing;
  const uint32_t rows = RangeWeighted(missing, 3);
  missing.Add("Weighted", {rows, RangeWeighted(missing, 3)}, {{"column", ir::StringValue("label")}});
  EXPECT_THAT(Refusal(missing), HasSubstr("takes its weights from the column \"label\", which the source does not "
                                          "have; name one of its columns (value)"));
  GraphBuilder texts;
  const uint32_t three = RangeWeighted(texts, 3);
  texts.Add("Weighted", {three, AddRowValues(texts, DType::kString)}, {{"column", ir::StringValue("value")}});
  EXPECT_THAT(Refusal(texts, WithWeighted({1})), HasSubstr("they must be single numbers"));
}

TEST(Weighted, IsNoPartOfAnother) {
  GraphBuilder builder;
  Weighted(builder, RangeWeighted(builder, 4), 9);
  builder.Add("select", {2}, {{"indices", ir::IntsValue({0})}});
  EXPECT_THAT(Refusal(builder, WithWeighted({1, 1, 1, 1})),
              HasSubstr("Weighted (test.py:3) gives other rows in each epoch, "
                        "which it draws"));
}

TEST(Weighted, RefusesValuesThatCannotBeReadByNumber) {
  const auto over = [](auto add_values) {
    GraphBuilder builder;
    const uint32_t rows = RangeWeighted(builder, 4);
    const uint32_t values = add_values(builder);
    builder.Add("Weighted", {rows, values}, {{"column", ir::StringValue("value")}});
    return Refusal(builder, WithWeighted({1, 1, 1, 1}));
  };
  EXPECT_THAT(over([](GraphBuilder& builder) { return builder.Add("map", {RangeWeighted(builder, 4)}); }),
              HasSubstr("takes a value for each row from map (test.py:3), which does not give rows by their numbers"));
  EXPECT_THAT(over([](GraphBuilder& builder) {
                return builder.Add("take", {RangeWeighted(builder, 4, true)}, {{"count", IntValue(4)}});
              }),
              HasSubstr("from take (test.py:3), which gives other rows in each epoch; give them as a list"));
  EXPECT_THAT(over([](GraphBuilder& builder) {
                return builder.Add(
                    "from_dataset", {},
                    {{"dataset", ir::ReferenceValue("rows")},
                     {"columns", ir::ColumnsValue({{{"value", ir::ColumnType::Of(DType::kInt64, {})}}})}});
              }),
              HasSubstr("from from_dataset (test.py:2), which would be called for every row"));
}

TEST(Weighted, ReadsNoOtherColumnsWithAnyPasses) {
  GraphBuilder builder;
  const uint32_t rows = builder.Add("ImageFolder", {}, {{"root", ir::StringValue("photos")}});
  const uint32_t again = builder.Add("ImageFolder", {}, {{"root", ir::StringValue("photos")}});
  builder.Add("Weighted", {rows, again}, {{"column", ir::StringValue("label")}});
  std::vector<std::string> off;
  for (const ir::Pass& pass : ir::AllPasses()) off.push_back(pass.name);
  const ir::Optimized optimized = *ir::Optimize(*builder.Build(), off);
  const auto schemas = *ir::InferSchemas(optimized.graph);
  EXPECT_THAT(schemas[0].Names(), ElementsAre("image", "label"));
  EXPECT_THAT(schemas[1].Names(), ElementsAre("label"));
}

// The numbers are places in the epoch's order, with the operator between the two and without it.
TEST(Weighted, StaysAboveAnOrderWhereAPassRemovesWhatKeptItThere) {
  GraphBuilder builder;
  Weighted(builder, builder.Add("take", {RangeWeighted(builder, 8, true)}, {{"count", IntValue(9)}}), 0);
  const ir::Optimized optimized = *ir::Optimize(*builder.Build());
  std::vector<std::string> ops;
  for (const ir::proto::Node& node : optimized.graph.nodes()) ops.push_back(node.op());
  EXPECT_THAT(ops, ElementsAre("Range", "permute", "Numpy", "Weighted"));
  GraphBuilder order;
  RangeWeighted(order, 8, true);
  const Ran ran = RunEveryWay(builder, WithWeighted({1, 0, 0, 0, 0, 0, 0, 0}));
  for (const uint64_t epoch : {0, 1}) {
    EXPECT_THAT(ran.Ints(0, epoch), Each(RunEveryWay(order, WithWeighted({})).Ints(0, epoch)[0]));
  }
}

TEST(Weighted, FitsNoStateOfOtherWeights) {
  const auto prints = [](const std::vector<double>& weights) {
    return RunOnce(*OverWeighted(2, 5).Build(), OptionsOf(WithWeighted(weights)))->fingerprints;
  };
  EXPECT_EQ(prints({1, 2}), prints({1, 2}));
  EXPECT_NE(prints({1, 2}), prints({1, 3}));
}

}  // namespace
}  // namespace headrace
