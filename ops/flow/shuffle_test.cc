#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/testing/chi_square.h"
#include "engine/operator/operator.h"
#include "ir/attributes.h"
#include "ir/graph.pb.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;

GraphBuilder Shuffled(int64_t rows, int64_t window) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  builder.Add("shuffle", {0}, {{"window", IntValue(window)}});
  return builder;
}

std::vector<int64_t> Sorted(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

TEST(Shuffle, GivesEveryRowOnceInAnotherOrderEachEpoch) {
  const Ran ran = RunEveryWay(Shuffled(100, 20));
  std::vector<int64_t> all(100);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(Sorted(ran.Ints(0, 0)), all);
  EXPECT_EQ(Sorted(ran.Ints(0, 1)), all);
  EXPECT_NE(ran.Ints(0, 0), all);
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
}

TEST(Shuffle, MovesNoRowFurtherThanTheWindow) {
  const std::vector<int64_t> values = RunEveryWay(Shuffled(200, 10)).Ints();
  for (size_t i = 0; i < values.size(); ++i) EXPECT_LE(std::abs(values[i] - static_cast<int64_t>(i)), 10);
}

TEST(Shuffle, OfOneRowKeepsTheOrder) {
  const std::vector<int64_t> values = RunEveryWay(Shuffled(20, 1)).Ints();
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
}

TEST(Shuffle, DependsOnTheSeed) {
  RunSpec other;
  other.seed = 8;
  EXPECT_NE(RunEveryWay(Shuffled(50, 50)).Ints(), RunEveryWay(Shuffled(50, 50), other).Ints());
}

// Orders of three rows in every epoch, as numbers from 0 to 5.
std::vector<size_t> OrdersOf(int64_t window, uint64_t epochs, ShardAssignment shard = {}) {
  const auto graph = Shuffled(3 * static_cast<int64_t>(shard.world), window).Build();
  EXPECT_TRUE(graph.ok()) << graph.status();
  RunSpec spec;
  spec.epochs = epochs;
  spec.shard = shard;
  const absl::StatusOr<Ran> ran = RunOnce(*graph, OptionsOf(spec));
  EXPECT_TRUE(ran.ok() && ran->rows.size() == 3 * epochs);
  std::vector<size_t> orders;
  for (size_t row = 0; ran.ok() && row + 2 < ran->rows.size(); row += 3) {
    const auto value = [&](size_t i) { return ran->rows[row + i].columns[0].value<int64_t>(); };
    const auto smaller = [&](size_t i) {
      return (value(i) > value((i + 1) % 3) ? 1u : 0u) + (value(i) > value((i + 2) % 3) ? 1u : 0u);
    };
    orders.push_back(smaller(0) * 2 + (value(1) > value(2) ? 1 : 0));
  }
  return orders;
}

// What keys p + u·window make likely, by as many draws of another generator as leave no doubt.
std::vector<double> Likely(int64_t window, double draws) {
  constexpr int kTries = 1'000'000;
  std::mt19937_64 random(1);
  std::vector<double> expected(6);
  for (int i = 0; i < kTries; ++i) {
    double keys[3];
    for (int p = 0; p < 3; ++p) {
      keys[p] = p + std::uniform_real_distribution<double>(0, 1)(random) * static_cast<double>(window);
    }
    int order[3] = {0, 1, 2};
    std::sort(order, order + 3, [&keys](int a, int b) { return keys[a] < keys[b]; });
    expected[static_cast<size_t>(order[0] * 2 + (order[1] > order[2] ? 1 : 0))] += draws / kTries;
  }
  return expected;
}

TEST(Shuffle, GivesEveryOrderAsOftenAsItsKeysSay) {
  if (!kCountsChances) GTEST_SKIP();
  constexpr uint64_t kEpochs = 12'000;
  for (const int64_t window : {3, 10}) {
    std::vector<int64_t> counts(6), steps(36);
    const std::vector<size_t> orders = OrdersOf(window, kEpochs);
    const std::vector<double> expected = Likely(window, kEpochs);
    std::vector<double> expected_steps;
    for (const double before : expected) {
      for (const double now : expected) expected_steps.push_back(before * now / kEpochs);
    }
    for (size_t epoch = 0; epoch < orders.size(); ++epoch) {
      ++counts[orders[epoch]];
      ++steps[orders[(epoch + 1) % orders.size()] * 6 + orders[epoch]];
    }
    EXPECT_LT(std::abs(ChiSquareDeviation(counts, expected)), kMostDeviation) << window;
    EXPECT_LT(std::abs(ChiSquareDeviation(steps, expected_steps)), kMostDeviation) << window << ", next epoch";
  }
}

// Otherwise adjacent rows would meet in every epoch, whatever the ranks.
TEST(Shuffle, MixesTheRowsOfEachRankAnotherWay) {
  if (!kCountsChances) GTEST_SKIP();
  constexpr uint64_t kEpochs = 6000;
  constexpr int64_t kWindow = 10;
  const std::vector<double> expected = Likely(kWindow, kEpochs);
  const std::vector<size_t> first = OrdersOf(kWindow, kEpochs, {.rank = 0, .world = 3});
  for (const uint64_t rank : {1, 2}) {
    const std::vector<size_t> other = OrdersOf(kWindow, kEpochs, {.rank = rank, .world = 3});
    std::vector<int64_t> counts(36);
    std::vector<double> expected_counts;
    for (const double mine : expected) {
      for (const double others : expected) expected_counts.push_back(mine * others / kEpochs);
    }
    for (size_t epoch = 0; epoch < kEpochs; ++epoch) ++counts[first[epoch] * 6 + other[epoch]];
    EXPECT_LT(std::abs(ChiSquareDeviation(counts, expected_counts)), kMostDeviation) << rank;
  }
}

// A restart reads no more than the window again.
TEST(Shuffle, ResumesAtMostAWindowBack) {
  const Ran ran = RunEveryWay(Shuffled(300, 25));
  for (size_t i = 0; i < 300; ++i) {
    const std::vector<uint64_t>& checkpoint = ran.rows[i].after.checkpoint;
    ASSERT_EQ(checkpoint.size(), 4u);
    EXPECT_EQ(checkpoint[3], i + 1) << "rows given";
    EXPECT_GE(checkpoint[2] + 25, i + 1) << "first position read again";
  }
}

TEST(Shuffle, MixesRowsOfAFilteredStreamBelowABatch) {
  GraphBuilder builder = Shuffled(60, 16);
  builder.Add("batch", {1}, {{"size", IntValue(7)}});
  const Ran ran = RunEveryWay(builder);
  EXPECT_EQ(ran.Texts(0).size(), 9u);
}

class Rows : public Outbox {
 public:
  void Give(Message message) override { rows += message->rows(); }
  void FinishEpoch(int /*input*/, uint64_t /*epoch*/) override {}
  int rows = 0;
};

Message TwoRows(uint64_t epoch) {
  auto message = std::make_unique<Block>();
  message->epoch = epoch;
  message->checkpoint = {2};
  for (uint64_t row = 0; row < 2; ++row) {
    absl::InlinedVector<Tensor, 1> columns = {*Tensor::Scalar(static_cast<int64_t>(row))};
    AppendRow(*message, {epoch, row}, {}, columns);
  }
  return message;
}

// A restart in the middle of a message, of an epoch that is finished before its rows come again.
TEST(Shuffle, SkipsNoRowsOfTheNextEpoch) {
  ir::proto::Node node;
  node.set_op("shuffle");
  ir::proto::Attribute* const window = node.add_attributes();
  window->set_name("window");
  *window->mutable_value() = IntValue(1);
  const RunOptions run;
  OpArguments arguments;
  arguments.node = &node;
  arguments.attributes = ir::Attributes::Of(node);
  arguments.run = &run;
  const std::unique_ptr<StreamOperator> shuffle = *FindOp("shuffle")->stream(arguments);
  shuffle->Start(5, {1, 1, 1}, {0});
  shuffle->Finish(5);
  Rows rows;
  const auto receive = [&](Message message) {
    shuffle->Receive(0, std::move(message), rows);
    while (shuffle->has_pending_output()) shuffle->Continue(rows);
  };
  receive(MakeEndOfEpoch(5, {0}));
  EXPECT_EQ(rows.rows, 0);
  receive(TwoRows(6));
  receive(MakeEndOfEpoch(6, {2}));
  EXPECT_EQ(rows.rows, 2);
}

TEST(Shuffle, OfNothingIsNothing) { EXPECT_TRUE(RunEveryWay(Shuffled(0, 5)).rows.empty()); }

}  // namespace
}  // namespace headrace
