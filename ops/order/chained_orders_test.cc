// Samplers above other orders: their numbers are places in the order below, values given by number follow their rows,
// and a row that comes again on several ways has another key each time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/testing/chi_square.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/row_values.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ir::StringValue;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class Chain {
 public:
  explicit Chain(int64_t rows, bool shuffle = false) {
    last_ = builder_.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", BoolValue(shuffle)}});
    spec_.epochs = 3;
  }

  Chain& Add(const std::string& op, const GraphBuilder::Given& given) {
    last_ = builder_.Add(op, {last_}, given);
    return *this;
  }

  // An operator that takes these values, by position or by number.
  Chain& Sample(const std::string& op, const std::vector<int64_t>& values, GraphBuilder::Given given = {},
                bool follows = false) {
    const std::string name = "values" + std::to_string(spec_.bindings.arrays.size());
    spec_.bindings.arrays[name].columns = {{"value", Int64s(values)}};
    const uint32_t array = AddRowValues(builder_, DType::kInt64, name);
    given.emplace_back("column", StringValue("value"));
    given.emplace_back("follows_rows", BoolValue(follows));
    last_ = builder_.Add(op, {last_, array}, given);
    return *this;
  }
  Chain& Follow(const std::string& op, const std::vector<int64_t>& values, GraphBuilder::Given given = {}) {
    return Sample(op, values, std::move(given), true);
  }

  const RunSpec& spec() const { return spec_; }
  const GraphBuilder& builder() const { return builder_; }
  Ran Run() const { return RunEveryWay(builder_, spec_); }
  Ran RunQuickly(uint64_t epochs) const {
    RunSpec spec = spec_;
    spec.epochs = epochs;
    return *RunOnce(*builder_.Build(), OptionsOf(spec));
  }
  std::string Refused() const { return Refusal(builder_, spec_); }

 private:
  GraphBuilder builder_;
  RunSpec spec_;
  uint32_t last_ = 0;
};

void ExpectDifferentKeysChainedOrders(const Ran& ran) {
  std::vector<uint64_t> keys = ran.Keys();
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end()) << "each row has draws of its own";
}

const std::vector<int64_t> kEqual = {1, 1, 1, 1};

Chain DrawnChainedOrders() { return Chain(4).Sample("Weighted", kEqual, {{"n", IntValue(6)}}); }

TEST(ChainedOrders, NumbersArePlacesInTheOrderBelow) {
  const Ran below = DrawnChainedOrders().Run();
  const Ran ran = DrawnChainedOrders().Sample("Weighted", {0, 0, 1, 0, 0, 1}, {{"n", IntValue(20)}}).Run();
  for (const uint64_t epoch : {0, 1, 2}) {
    const std::vector<int64_t> of = below.Ints(0, epoch);
    const std::vector<int64_t> rows = ran.Ints(0, epoch);
    ASSERT_THAT(rows, SizeIs(20));
    for (const int64_t row : rows) EXPECT_TRUE(row == of[2] || row == of[5]);
  }
  ExpectDifferentKeysChainedOrders(ran);
}

TEST(ChainedOrders, RowsThatComeAgainOnSeveralWaysDiffer) {
  ExpectDifferentKeysChainedOrders(DrawnChainedOrders()
                                       .Sample("Weighted", {1, 1, 1, 1, 1, 1}, {{"n", IntValue(12)}})
                                       .Add("Repeated", {{"times", IntValue(2)}})
                                       .Run());
  ExpectDifferentKeysChainedOrders(
      Chain(2).Add("Repeated", {{"times", IntValue(3)}}).Sample("Weighted", {1, 1, 1, 1, 1, 1}).Run());
  ExpectDifferentKeysChainedOrders(
      Chain(4, true)
          .Add("take", {{"count", IntValue(3)}})
          .Sample("ClassBalanced", {5, 5, 6}, {{"n", IntValue(9)}})
          .Follow("PK", {7, 7, 8, 8}, {{"classes", IntValue(1)}, {"samples", IntValue(4)}, {"groups", IntValue(5)}})
          .Run());
}

TEST(ChainedOrders, ShufflesBelowTakeAreOrders) {
  const Ran below = Chain(5, true).Add("take", {{"count", IntValue(3)}}).Run();
  const Ran ran =
      Chain(5, true).Add("take", {{"count", IntValue(3)}}).Sample("Weighted", {0, 1, 0}, {{"n", IntValue(4)}}).Run();
  for (const uint64_t epoch : {0, 1, 2}) {
    EXPECT_EQ(ran.Ints(0, epoch), std::vector<int64_t>(4, below.Ints(0, epoch)[1]));
  }
}

TEST(ChainedOrders, StandBelowMaps) {
  const Ran plain = DrawnChainedOrders().Sample("Weighted", {1, 0, 0, 0, 0, 2}).Run();
  const Ran above = DrawnChainedOrders()
                        .Add("project", {{"columns", ir::StringsValue({"value"})}})
                        .Sample("Weighted", {1, 0, 0, 0, 0, 2})
                        .Run();
  EXPECT_EQ(plain.Ints(), above.Ints());
}

TEST(ChainedOrders, ValuesByNumberFollowTheirRows) {
  Chain chain = Chain(6, true).Add("take", {{"count", IntValue(4)}});
  const Ran below = chain.Run();
  const Ran ran = chain.Follow("Weighted", {1, 0, 1, 0, 1, 0}, {{"n", IntValue(12)}}).Run();
  for (const uint64_t epoch : {0, 1, 2}) {
    const std::vector<int64_t> come = below.Ints(0, epoch);
    for (const int64_t row : ran.Ints(0, epoch)) {
      EXPECT_EQ(row % 2, 0);
      EXPECT_NE(std::find(come.begin(), come.end(), row), come.end());
    }
  }
  ExpectDifferentKeysChainedOrders(ran);
}

TEST(ChainedOrders, AreSharded) {
  const Chain chain = DrawnChainedOrders().Follow("ClassBalanced", {7, 7, 8, 9}, {{"n", IntValue(11)}});
  const std::vector<int64_t> whole = chain.Run().Ints();
  const std::vector<Ran> ranks = RunRanks(chain.builder(), 3, chain.spec());
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(ranks[i % 3].Ints()[i / 3], whole[i]);
}

// How often each of the three rows comes first.
std::vector<int64_t> CountFirst(const Chain& chain, uint64_t epochs) {
  const Ran ran = chain.RunQuickly(epochs);
  std::vector<int64_t> counts(3);
  for (uint64_t epoch = 0; epoch < epochs; ++epoch) ++counts[static_cast<size_t>(ran.Ints(0, epoch)[0])];
  return counts;
}

TEST(ChainedOrders, DrawByTheValuesOfTheRowsThatCome) {
  if (!kCountsChances) GTEST_SKIP();
  constexpr uint64_t kEpochs = 3600;
  // Each pair of the three rows comes as often.
  const auto pairs = [] {
    return Chain(3).Sample("Weighted", {1, 1, 1}, {{"n", IntValue(2)}, {"replacement", BoolValue(false)}});
  };
  const std::vector<int64_t> by_weight = CountFirst(pairs().Follow("Weighted", {1, 1, 2}), kEpochs);
  EXPECT_LT(std::abs(ChiSquareDeviation(by_weight, {1000, 1000, 1600})), kMostDeviation);
  const std::vector<int64_t> by_class = CountFirst(pairs().Follow("ClassBalanced", {5, 5, 6}), kEpochs);
  EXPECT_LT(std::abs(ChiSquareDeviation(by_class, {1200, 1200, 1200})), kMostDeviation);
  // By place: the first of the pair twice as often, whichever it is.
  const std::vector<int64_t> by_place = CountFirst(pairs().Sample("Weighted", {2, 1}), kEpochs);
  EXPECT_LT(std::abs(ChiSquareDeviation(by_place, {1200, 1200, 1200})), kMostDeviation);
}

TEST(ChainedOrders, RefuseOtherNumbersOfValuesThanOfRowsBelow) {
  EXPECT_THAT(DrawnChainedOrders().Sample("Weighted", {1, 1, 1, 1}).Refused(),
              HasSubstr("has 6 rows; give one of the weights for each, not 4; those of the source's rows follow them "
                        "where they are a column of it"));
  EXPECT_THAT(DrawnChainedOrders().Sample("Weighted", {1, 1, 1}).Refused(),
              HasSubstr("give one of the weights for each, not 3"));
}

TEST(ChainedOrders, RefuseEpochsInWhichNothingCanBeDrawn) {
  const auto error = [](const Chain& chain) { return DescribeError(chain.RunQuickly(50).error); };
  const auto one = [] { return Chain(4, true).Add("take", {{"count", IntValue(1)}}); };
  EXPECT_THAT(error(one().Follow("Weighted", {0, 1, 1, 1})),
              AllOf(HasSubstr("has no weight above 0"), HasSubstr("Weighted"), HasSubstr("epoch ")));
  EXPECT_THAT(error(one().Follow("PK", {5, 6, 6, 6},
                                 {{"classes", IntValue(2)}, {"samples", IntValue(1)}, {"groups", IntValue(1)}})),
              HasSubstr("groups of 2 different classes, but there are 1"));
}

TEST(ChainedOrders, KeepPartsThatAreTheSameInEachEpoch) {
  EXPECT_THAT(DrawnChainedOrders().Add("select", {{"indices", ir::IntsValue({0})}}).Refused(),
              HasSubstr("parts would overlap"));
}

}  // namespace
}  // namespace headrace
