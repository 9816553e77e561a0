#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/philox.h"
#include "engine/plan/plan_node.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ops/mix/mixed_source.h"
#include "ops/testing/counted_rows.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Ints = std::vector<int64_t>;

// A row of a mixture: of which input, and which of its rows in which pass.
struct MixDrawn {
  size_t input = 0;
  uint64_t pass = 0;
  uint64_t row = 0;
};

// The rows of an epoch, by the definition.
std::vector<MixDrawn> Model(const std::vector<double>& weights, const std::vector<uint64_t>& sizes,
                            const std::string& stop, uint64_t key) {
  std::vector<double> shares = weights;
  std::vector<uint64_t> left = sizes;
  std::vector<uint64_t> passes(sizes.size());
  std::set<size_t> ended;
  std::vector<MixDrawn> rows;
  for (uint64_t draw = 0;; ++draw) {
    RowRandom random(key, draw);
    size_t input = 0;
    while (true) {
      double point = random.Uniform() * std::accumulate(shares.begin(), shares.end(), 0.0);
      for (input = 0; point >= shares[input]; ++input) point -= shares[input];
      if (left[input] > 0) break;
      if (stop == "first") return rows;
      ended.insert(input);
      if (ended.size() == sizes.size()) return rows;
      if (stop == "all") {
        shares[input] = 0;
        continue;
      }
      left[input] = sizes[input];
      ++passes[input];
      break;
    }
    rows.push_back({input, passes[input], sizes[input] - left[input]--});
  }
}

constexpr int64_t kApart = 1000;  // between the values of two inputs

struct Mixture {
  std::vector<int64_t> sizes = {6, 4, 9};
  std::vector<double> weights = {3, 1, 2};
  std::string stop = "all";
  int64_t group = 0;  // rows of a message; 0: over indices
  bool shuffled = false;
  std::vector<int64_t> fails = {};
};

uint32_t Add(GraphBuilder& builder, const Mixture& mixture) {
  std::vector<uint32_t> inputs;
  for (const int64_t size : mixture.sizes) {
    const int64_t start = kApart * static_cast<int64_t>(inputs.size());
    uint32_t last = builder.Add(
        "Range", {},
        {{"start", IntValue(start)}, {"stop", IntValue(start + size)}, {"shuffle", ir::BoolValue(mixture.shuffled)}});
    if (!mixture.fails.empty()) last = builder.Add("test_fail", {last}, {{"values", ir::IntsValue(mixture.fails)}});
    if (mixture.group > 0) last = builder.Add("test_group", {last}, {{"rows", IntValue(mixture.group)}});
    inputs.push_back(last);
  }
  return builder.Add("mix", inputs,
                     {{"weights", ir::FloatsValue(mixture.weights)}, {"stop", ir::StringValue(mixture.stop)}});
}

GraphBuilder Mixed(const Mixture& mixture) {
  GraphBuilder builder;
  Add(builder, mixture);
  return builder;
}

uint32_t LastOf(const GraphBuilder& builder) { return static_cast<uint32_t>(builder.raw().nodes_size() - 1); }

GraphBuilder With(GraphBuilder builder, std::string_view op, const GraphBuilder::Given& attributes = {}) {
  builder.Add(op, {LastOf(builder)}, attributes);
  return builder;
}

// The salt of its mix.
uint64_t SaltOf(const GraphBuilder& builder) {
  const ir::proto::Graph graph = *builder.Build();
  const auto& nodes = graph.nodes();
  return std::find_if(nodes.begin(), nodes.end(), [](const auto& node) { return node.op() == "mix"; })->salt();
}

std::vector<MixDrawn> ModelOf(const Mixture& mixture, uint64_t epoch = 0, uint64_t seed = 7) {
  const std::vector<uint64_t> sizes(mixture.sizes.begin(), mixture.sizes.end());
  return Model(mixture.weights, sizes, mixture.stop, RowRandom::KeyOf(seed, SaltOf(Mixed(mixture)), epoch));
}

int64_t ValueOf(const MixDrawn& drawn) {
  return kApart * static_cast<int64_t>(drawn.input) + static_cast<int64_t>(drawn.row);
}

Ints ValuesOf(const std::vector<MixDrawn>& rows) {
  Ints values;
  for (const MixDrawn& drawn : rows) values.push_back(ValueOf(drawn));
  return values;
}

bool AllDiffer(const std::vector<uint64_t>& keys) {
  return std::set<uint64_t>(keys.begin(), keys.end()).size() == keys.size();
}

// Over indices, and over messages of one row and of three.
class Mix : public ::testing::TestWithParam<std::pair<int64_t, const char*>> {
 protected:
  Mixture Of(std::vector<int64_t> sizes, std::vector<double> weights) const {
    return {
        .sizes = std::move(sizes), .weights = std::move(weights), .stop = GetParam().second, .group = GetParam().first};
  }
};

TEST_P(Mix, GivesTheRowsThatAreDrawn) {
  for (const Mixture& mixture : {Of({6, 4, 9}, {3, 1, 2}), Of({5, 5}, {1, 1}), Of({12, 2}, {1, 6}), Of({7}, {0.5}),
                                 Of({3, 0, 4}, {1, 1, 2}), Of({0, 0}, {1, 1})}) {
    const Ran ran = RunEveryWay(Mixed(mixture));
    for (const uint64_t epoch : {0, 1}) {
      const std::vector<MixDrawn> expected = ModelOf(mixture, epoch);
      EXPECT_EQ(ran.Ints(0, epoch), ValuesOf(expected));
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(ran.Keys(epoch)[i], MixKey(expected[i].row, expected[i].input));
      }
    }
    EXPECT_EQ(ran.cardinality, Cardinality::Of(ran.Ints().size()));
  }
}

TEST_P(Mix, EndsWhenEnoughIsTaken) {
  for (const int64_t count : {0, 2, 7}) {
    const Mixture mixture = Of({40, 50}, {2, 1});
    const Ran ran = RunEveryWay(With(Mixed(mixture), "take", {{"count", IntValue(count)}}));
    for (const uint64_t epoch : {0, 1}) {
      Ints expected = ValuesOf(ModelOf(mixture, epoch));
      expected.resize(static_cast<size_t>(count));
      EXPECT_EQ(ran.Ints(0, epoch), expected);
    }
  }
}

TEST_P(Mix, StandsBelowOtherOperators) {
  const Mixture mixture = Of({9, 14}, {2, 3});
  const Ints rows = ValuesOf(ModelOf(mixture));
  const Ran batched = RunEveryWay(With(Mixed(mixture), "batch", {{"size", IntValue(3)}}));
  EXPECT_THAT(batched.Texts(), SizeIs((rows.size() + 2) / 3));
  Ints shuffled = RunEveryWay(With(Mixed(mixture), "shuffle", {{"window", IntValue(4)}})).Ints();
  EXPECT_TRUE(std::is_permutation(shuffled.begin(), shuffled.end(), rows.begin(), rows.end()));
  Ints twice = rows;
  for (const int64_t value : ValuesOf(ModelOf(mixture, 1))) twice.push_back(value);
  EXPECT_EQ(RunEveryWay(With(Mixed(mixture), "repeat", {{"count", IntValue(2)}})).Ints(), twice);
  // The same rows in each epoch.
  const Ran cached = RunEveryWay(With(Mixed(mixture), "cache"));
  EXPECT_EQ(cached.Ints(0, 0), rows);
  EXPECT_EQ(cached.Ints(0, 1), rows);
}

TEST_P(Mix, StandsAboveOtherOperators) {
  GraphBuilder builder;
  const uint32_t first = Add(builder, Of({5, 3}, {1, 1}));
  const uint32_t shuffled = builder.Add("shuffle", {first}, {{"window", IntValue(3)}});
  const uint32_t repeated = builder.Add("repeat", {shuffled}, {{"count", IntValue(2)}});
  const uint32_t cached = builder.Add("cache", {Add(builder, Of({4, 4}, {1, 3}))});
  builder.Add("mix", {repeated, cached, first},
              {{"weights", ir::FloatsValue({1, 2, 1})}, {"stop", ir::StringValue(GetParam().second)}});
  RunEveryWay(builder);
}

TEST_P(Mix, IsZippedWithOthers) {
  GraphBuilder builder = Mixed(Of({5, 8}, {1, 2}));
  const uint32_t range = builder.Add("Range", {}, {{"stop", IntValue(30)}});
  const uint32_t renamed = builder.Add("rename", {range}, {{"mapping", ir::PairsValue({{"value", "number"}})}});
  builder.Add("zip", {LastOf(builder) - 2, renamed});
  const Ints rows = ValuesOf(ModelOf(Of({5, 8}, {1, 2})));
  EXPECT_EQ(RunEveryWay(builder).Ints(), rows);
}

TEST_P(Mix, MayHoldAnotherMixture) {
  GraphBuilder builder;
  const uint32_t inner = Add(builder, Of({5, 8}, {1, 2}));
  const uint32_t outer = Add(builder, Of({6}, {1}));
  builder.Add("mix", {outer, inner}, {{"weights", ir::FloatsValue({1, 1})}, {"stop", ir::StringValue("all")}});
  EXPECT_TRUE(AllDiffer(RunEveryWay(builder).Keys()));
}

INSTANTIATE_TEST_SUITE_P(IndexedAndGrouped, Mix,
                         ::testing::Values(std::pair{0, "first"}, std::pair{1, "first"}, std::pair{3, "first"},
                                           std::pair{0, "all"}, std::pair{1, "all"}, std::pair{3, "all"}));

TEST(Mix, GivesEachRowOnceUnderAll) {
  for (const int64_t group : {0, 2}) {
    const Ran ran = RunEveryWay(Mixed({.group = group, .shuffled = true}));
    for (const uint64_t epoch : {0, 1}) {
      Ints rows = ran.Ints(0, epoch);
      std::sort(rows.begin(), rows.end());
      EXPECT_THAT(rows, ElementsAre(0, 1, 2, 3, 4, 5, 1000, 1001, 1002, 1003, 2000, 2001, 2002, 2003, 2004, 2005, 2006,
                                    2007, 2008));
    }
  }
}

TEST(Mix, BeginsInputsAgainUnderRepeat) {
  for (const Mixture& mixture :
       {Mixture{.stop = "repeat"}, Mixture{{20, 1}, {1, 1}, "repeat"}, Mixture{{3, 5}, {5, 1}, "repeat"},
        Mixture{{4}, {1}, "repeat"}, Mixture{.stop = "repeat", .group = 1}, Mixture{{20, 1}, {1, 1}, "repeat", 1},
        Mixture{{3, 5}, {5, 1}, "repeat", 3}, Mixture{{4}, {1}, "repeat", 3}}) {
    const Ran ran = RunEveryWay(Mixed(mixture));
    for (const uint64_t epoch : {0, 1}) {
      const std::vector<MixDrawn> expected = ModelOf(mixture, epoch);
      EXPECT_EQ(ran.Ints(0, epoch), ValuesOf(expected));
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(ran.Keys(epoch)[i], MixKey(MixKey(expected[i].row, expected[i].pass), expected[i].input));
      }
      EXPECT_TRUE(AllDiffer(ran.Keys(epoch)));
    }
  }
}

TEST(Mix, StreamsThatBeginAgainStandBelowOthers) {
  const Mixture mixture{.sizes = {9, 4}, .weights = {2, 3}, .stop = "repeat", .group = 3};
  for (const int64_t count : {0, 2, 7, 11}) {
    const Ran ran = RunEveryWay(With(Mixed(mixture), "take", {{"count", IntValue(count)}}));
    for (const uint64_t epoch : {0, 1}) {
      Ints expected = ValuesOf(ModelOf(mixture, epoch));
      expected.resize(static_cast<size_t>(count));
      EXPECT_EQ(ran.Ints(0, epoch), expected);
    }
  }
  const Ints rows = ValuesOf(ModelOf(mixture));
  const Ran batched = RunEveryWay(With(Mixed(mixture), "batch", {{"size", IntValue(3)}}));
  EXPECT_THAT(batched.Texts(), SizeIs((rows.size() + 2) / 3));
  Ints twice = rows;
  for (const int64_t value : ValuesOf(ModelOf(mixture, 1))) twice.push_back(value);
  EXPECT_EQ(RunEveryWay(With(Mixed(mixture), "repeat", {{"count", IntValue(2)}})).Ints(), twice);
}

TEST(Mix, StreamsThatBeginAgainMayBeMixturesAndOthers) {
  GraphBuilder builder;
  const uint32_t first = Add(builder, {.sizes = {5, 3}, .weights = {1, 1}, .stop = "repeat", .group = 2});
  const uint32_t shuffled = builder.Add("shuffle", {first}, {{"window", IntValue(3)}});
  const uint32_t repeated =
      builder.Add("repeat", {Add(builder, {.sizes = {2}, .weights = {1}, .stop = "first"})}, {{"count", IntValue(2)}});
  const uint32_t taken = builder.Add("take", {repeated}, {{"count", IntValue(3)}});
  builder.Add("mix", {shuffled, taken}, {{"weights", ir::FloatsValue({1, 2})}, {"stop", ir::StringValue("repeat")}});
  RunSpec spec;
  // The passes of passes of more have no numbers.
  spec.epochs = 1;
  EXPECT_TRUE(AllDiffer(RunEveryWay(builder, spec).Keys()));
}

// Each rank mixes its own rows, and begins them again when they end.
TEST(Mix, RanksBeginTheirOwnRowsAgain) {
  const Mixture whole{.sizes = {6, 4}, .weights = {1, 1}, .stop = "repeat", .group = 1};
  Mixture of_rank = whole;
  of_rank.sizes = {3, 2};
  const std::vector<Ran> ranks = RunRanks(Mixed(whole), 2);
  for (const uint64_t epoch : {0, 1}) {
    const std::vector<MixDrawn> drawn = ModelOf(of_rank, epoch);
    for (size_t rank = 0; rank < 2; ++rank) {
      Ints expected;
      for (const MixDrawn& each : drawn) {
        expected.push_back(kApart * static_cast<int64_t>(each.input) + static_cast<int64_t>(each.row * 2 + rank));
      }
      EXPECT_EQ(ranks[rank].Ints(0, epoch), expected);
    }
  }
}

// Those of the input under an endless repeat.
TEST(Mix, GivesThePassesOfAnEndlessRepeat) {
  const auto shuffled = [](GraphBuilder& builder) {
    return builder.Add("Range", {}, {{"stop", IntValue(5)}, {"shuffle", ir::BoolValue(true)}});
  };
  GraphBuilder mixed;
  const uint32_t input = shuffled(mixed);
  const uint32_t other = mixed.Add("Range", {}, {{"start", IntValue(100)}, {"stop", IntValue(130)}});
  mixed.Add("mix", {input, other}, {{"weights", ir::FloatsValue({1, 1})}, {"stop", ir::StringValue("repeat")}});
  GraphBuilder repeated;
  repeated.Add("take", {repeated.Add("repeat", {shuffled(repeated)})}, {{"count", IntValue(500)}});
  RunSpec spec;
  spec.first_epoch = 3;
  const Ran ran = RunEveryWay(mixed, spec);
  const Ran endless = *RunOnce(*repeated.Build(), OptionsOf(spec));
  for (const uint64_t epoch : {3, 4}) {
    Ints rows = ran.Ints(0, epoch);
    std::erase_if(rows, [](int64_t value) { return value >= 100; });
    ASSERT_GT(rows.size(), 15u);
    Ints expected = endless.Ints(0, epoch);
    expected.resize(rows.size());
    EXPECT_EQ(rows, expected);
  }
}

TEST(Mix, RefusesWhatHasNoEnd) {
  EXPECT_THAT(Refusal(Mixed({{3, 0}, {1, 1}, "repeat"})),
              HasSubstr("has no end with stop=\"repeat\": input 1 gives no rows"));
  const Ran empty = *RunOnce(*Mixed({{3, 0}, {1, 1}, "repeat", 1}).Build(), OptionsOf(RunSpec()));
  EXPECT_THAT(empty.error.message(), HasSubstr("has no end with stop=\"repeat\": input 1 gave no rows in a pass"));
  GraphBuilder nested = Mixed({.stop = "first"});
  nested.Add("mix", {LastOf(nested)}, {{"weights", ir::FloatsValue({1})}, {"stop", ir::StringValue("repeat")}});
  EXPECT_THAT(Refusal(nested), HasSubstr("needs inputs with as many rows in every epoch"));
}

TEST(Mix, RefusesWrongWeights) {
  EXPECT_THAT(Refusal(Mixed({{3, 4}, {1}})), HasSubstr("has 2 inputs and 1 weights; give one weight for each input"));
  EXPECT_THAT(Refusal(Mixed({{3, 4}, {1, 0}})), HasSubstr("weights"));
  EXPECT_THAT(Refusal(Mixed({{3, 4}, {1, -1}})), HasSubstr("weights"));
  EXPECT_THAT(Refusal(Mixed({{3, 4}, {1, INFINITY}})), HasSubstr("weights"));
  EXPECT_THAT(Refusal(Mixed({{3, 4}, {NAN, 1}})), HasSubstr("weights"));
  EXPECT_THAT(Refusal(Mixed({.stop = "never"})), HasSubstr("stop"));
  GraphBuilder without;
  without.Add("Range", {}, {{"stop", IntValue(3)}});
  without.Add("mix", {0}, {{"weights", ir::FloatsValue({1})}});
  EXPECT_THAT(Refusal(without), HasSubstr("stop"));
}

TEST(Mix, RefusesWeightsThatHardlyCount) {
  const auto refusal = [](std::vector<double> weights) {
    return Refusal(Mixed({.sizes = {3, 4, 5}, .weights = std::move(weights)}));
  };
  EXPECT_THAT(refusal({1, 1e-300, 1}), HasSubstr("weights[1] is 1e-300, less than 2**-40 of the sum of all weights"));
  EXPECT_THAT(refusal({0x1.8p-41, 1, 1}), HasSubstr("weights[0]"));
  EXPECT_THAT(refusal({1e308, 1e308, 1e290}), HasSubstr("weights[2] is 1e+290"));
  EXPECT_EQ(refusal({1, 0x1p-38, 1}), "");
  EXPECT_EQ(refusal({1e308, 1e308, 1e308}), "");
}

TEST(Mix, RefusesMorePassesThanEpochsHaveNumbers) {
  EXPECT_TRUE(CheckMixturePass(1, kMixturePasses - 2).ok());
  const absl::Status refused = CheckMixturePass(1, kMixturePasses - 1);
  EXPECT_EQ(KindOf(refused), ErrorKind::kUnsupported);
  EXPECT_THAT(refused.ToString(), HasSubstr("runs input 1 at most 4294967295 times in an epoch"));
}

// A user's sampler may have another size when its epoch begins than when the operators were made.
TEST(Mix, DrawsAnewForInputsOfAnotherSize) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(20)}});
  builder.Add("from_sampler", {0}, {{"size", ir::ReferenceValue("size")}, {"indices", ir::ReferenceValue("indices")}});
  builder.Add("Range", {}, {{"start", IntValue(kApart)}, {"stop", IntValue(kApart + 40)}});
  builder.Add("mix", {1, 2}, {{"weights", ir::FloatsValue({1, 1})}, {"stop", ir::StringValue("first")}});
  int64_t size = 0;
  HostBindings bindings;
  const auto bind = [&](const char* name, std::function<Tensor()> body) {
    bindings.functions[name] = std::make_shared<FakeFunction>(
        [body](absl::Span<const Tensor>, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
          return std::vector<Tensor>{body()};
        });
  };
  bind("size", [&] { return *Tensor::Scalar(size); });
  bind("indices", [&] {
    Ints rows(static_cast<size_t>(size));
    std::iota(rows.begin(), rows.end(), 0);
    return Int64s(rows);
  });
  RunOptions run;
  run.bindings = &bindings;
  const ir::proto::Graph graph = *builder.Build();
  const auto rows = [&](int64_t when_made, int64_t when_begun) {
    size = when_made;
    const std::unique_ptr<PlanNode> node = *MakePlanNodes(graph, run);
    size = when_begun;
    const BegunEpoch begun = *node->indexed->Begin(0);
    Ints values;
    for (uint64_t position = 0; position < begun.rows; ++position) {
      Block block;
      EXPECT_TRUE(node->indexed->Read({0, position}, block).ok());
      values.push_back(block.columns.at(0).row(0).value<int64_t>());
    }
    return values;
  };
  const Ints of_few = rows(4, 4);
  const Ints of_many = rows(12, 12);
  EXPECT_LT(of_few.size(), of_many.size());
  EXPECT_EQ(rows(4, 12), of_many);
  EXPECT_EQ(rows(12, 4), of_few);
}

TEST(Mix, RefusesOtherColumns) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(3)}});
  builder.Add("rename", {0}, {{"mapping", ir::PairsValue({{"value", "b"}})}});
  builder.Add("mix", {0, 1}, {{"weights", ir::FloatsValue({1, 1})}, {"stop", ir::StringValue("all")}});
  EXPECT_THAT(Refusal(builder), HasSubstr("the columns differ: value in the first input and b in input 1"));
}

TEST(Mix, PutsColumnsIntoTheFirstInputsOrder) {
  RunSpec spec;
  spec.bindings.arrays["l"].columns = {{"a", Int64s({1, 1})}, {"b", Int64s({2, 2})}};
  spec.bindings.arrays["r"].columns = {{"a", Int64s({1, 1})}, {"b", Int64s({2, 2})}};
  for (const int64_t group : {0, 2}) {
    GraphBuilder builder;
    const auto array = [&](const char* name, std::string_view columns) {
      const uint32_t numpy = builder.Add(
          "Numpy", {}, {{"arrays", ir::ReferenceValue(name)}, {"columns", ir::ColumnsValue(Int64Columns(columns))}});
      return group == 0 ? numpy : builder.Add("test_group", {numpy}, {{"rows", IntValue(group)}});
    };
    const uint32_t left = array("l", "ab");
    const uint32_t right = array("r", "ba");
    builder.Add("mix", {left, right}, {{"weights", ir::FloatsValue({1, 1})}, {"stop", ir::StringValue("all")}});
    EXPECT_THAT(RunEveryWay(builder, spec).Texts(1), ElementsAre("a=1, b=2", "a=1, b=2", "a=1, b=2", "a=1, b=2"));
  }
}

TEST(Mix, OverIndicesIsDrawnForAllRanks) {
  for (const char* stop : {"first", "all", "repeat"}) {
    const Mixture mixture{.sizes = {8, 5}, .weights = {2, 1}, .stop = stop, .shuffled = true};
    const Ints whole = RunOnce(*Mixed(mixture).Build(), OptionsOf({}))->Ints();
    Ints together(whole.size());
    const std::vector<Ran> ranks = RunRanks(Mixed(mixture), 3);
    for (size_t rank = 0; rank < 3; ++rank) {
      const Ints rows = ranks[rank].Ints();
      for (size_t i = 0; i < rows.size(); ++i) together.at(rank + 3 * i) = rows[i];
    }
    EXPECT_EQ(together, whole);
  }
}

TEST(Mix, OfStreamsIsDrawnByEachRankAlike) {
  const Mixture whole{.sizes = {8, 6}, .weights = {2, 1}, .group = 1};
  for (const char* stop : {"first", "all"}) {
    Mixture mixture = whole;
    mixture.stop = stop;
    const std::vector<Ran> ranks = RunRanks(Mixed(mixture), 2);
    Mixture half = mixture;
    half.sizes = {4, 3};
    for (size_t rank = 0; rank < 2; ++rank) {
      Ints expected;
      for (const MixDrawn& drawn : ModelOf(half)) {
        expected.push_back(kApart * static_cast<int64_t>(drawn.input) + static_cast<int64_t>(2 * drawn.row + rank));
      }
      EXPECT_EQ(ranks[rank].Ints(), expected);
    }
  }
}

TEST(Mix, OfEndlessStreamsIsEndless) {
  GraphBuilder builder;
  std::vector<uint32_t> inputs;
  for (const int64_t size : {2, 3}) {
    inputs.push_back(builder.Add("repeat", {builder.Add("Range", {}, {{"stop", IntValue(size)}})}));
  }
  builder.Add("mix", inputs, {{"weights", ir::FloatsValue({1, 4})}, {"stop", ir::StringValue("first")}});
  const Ran ran = RunEveryWay(With(builder, "take", {{"count", IntValue(30)}}));
  EXPECT_THAT(ran.Ints(), SizeIs(30));
  EXPECT_EQ(ran.cardinality, Cardinality::Of(30));
}

// The caller does not wait for the draws of large streams.
TEST(Mix, OfLargeStreamsHasAnUnknownNumberOfRows) {
  const auto cardinality = [](int64_t rows) {
    const Mixture mixture{.sizes = {rows, rows}, .weights = {1, 1}, .stop = "first", .group = 1};
    const auto pipeline = Pipeline::Make(*Mixed(mixture).Build(), OptionsOf({}));
    return (*pipeline)->plan().root().properties.cardinality;
  };
  EXPECT_TRUE(cardinality(1 << 20).known());
  EXPECT_EQ(cardinality(1 << 23), Cardinality::Unknown());
}

TEST(Mix, GivesAnErrorWhereItsRowIsDrawn) {
  for (const int64_t group : {1, 3}) {
    const Mixture good{.sizes = {12, 9}, .weights = {2, 1}, .group = group};
    Ints expected = ValuesOf(ModelOf(good));
    const auto failed = std::find(expected.begin(), expected.end(), kApart + 2);
    expected.erase(failed, expected.end());
    Mixture mixture = good;
    mixture.fails = {kApart + 2};
    const Ran ran = RunEveryWay(Mixed(mixture));
    EXPECT_EQ(ran.Ints(), expected);
    EXPECT_THAT(ran.error.ToString(), HasSubstr("the value 1002 is not liked"));
  }
}

TEST(Mix, RaisesNoErrorOfAnInputThatIsNotDrawn) {
  Mixture mixture{.sizes = {500, 4}, .weights = {1e12, 1}, .group = 1, .fails = {kApart}};
  const Ran ran = RunEveryWay(With(Mixed(mixture), "take", {{"count", IntValue(20)}}));
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_THAT(ran.Ints(), SizeIs(20));
}

TEST(Mix, CountsARowThatFailedAsItsRow) {
  for (const int64_t group : {1, 3}) {
    for (const char* stop : {"first", "all"}) {
      const Mixture good{.sizes = {12, 9}, .weights = {2, 1}, .stop = stop, .group = group};
      Ints expected = ValuesOf(ModelOf(good));
      std::erase_if(expected, [](int64_t value) { return value == 0 || value == 3 || value == kApart + 2; });
      Mixture mixture = good;
      mixture.fails = {0, 3, kApart + 2};
      GraphBuilder builder = Mixed(mixture);
      builder.SkipFailed(100);
      const Ran ran = RunEveryWay(builder);
      EXPECT_TRUE(ran.error.ok()) << ran.error;
      EXPECT_EQ(ran.Ints(), expected);
      builder.Add("batch", {LastOf(builder)}, {{"size", IntValue(4)}});
      EXPECT_TRUE(RunEveryWay(builder).error.ok());
    }
  }
}

// What filters below remove is counted where the row after it is given, after each restart, too.
TEST(Mix, PassesOnWhatWasRemoved) {
  const auto literal = [](int64_t value) { return ir::LiteralExpression(IntValue(value)); };
  const auto rest = ir::CallExpression("%", ir::ColumnExpression("value"), literal(3));
  const auto predicate = ir::ExpressionValue(ir::CallExpression("!=", rest, literal(0)));
  for (const uint64_t max_errors : {100, 3}) {
    GraphBuilder builder;
    std::vector<uint32_t> inputs;
    for (const int64_t start : {0, 100}) {
      uint32_t last = builder.Add("Range", {}, {{"start", IntValue(start)}, {"stop", IntValue(start + 14)}});
      last = builder.Add("test_fail", {last}, {{"values", ir::IntsValue({1, 2, 13, 100, 105, 110, 113})}});
      last = builder.Add("test_group", {last}, {{"rows", IntValue(4)}});
      inputs.push_back(builder.Add("filter", {last}, {{"predicate", predicate}}));
    }
    builder.Add("mix", inputs, {{"weights", ir::FloatsValue({1, 2})}, {"stop", ir::StringValue("all")}});
    builder.SkipFailed(max_errors);
    const Ran ran = RunEveryWay(builder);
    EXPECT_EQ(ran.error.ok(), max_errors == 100) << ran.error;
  }
}

// Also before the first row of an input that is drawn late.
TEST(Mix, CountsWhatWasRemovedBeforeAFirstRow) {
  const auto condition = ir::CallExpression(">", ir::ColumnExpression("value"), ir::LiteralExpression(IntValue(-1)));
  for (const uint64_t max_errors : {3, 4}) {
    GraphBuilder builder;
    std::vector<uint32_t> inputs;
    for (const int64_t start : {0, 100}) {
      uint32_t last = builder.Add("Range", {}, {{"start", IntValue(start)}, {"stop", IntValue(start + 14)}});
      last = builder.Add("test_fail", {last}, {{"values", ir::IntsValue({100, 101, 102, 103})}});
      inputs.push_back(builder.Add("filter", {last}, {{"predicate", ir::ExpressionValue(condition)}}));
    }
    builder.Add("mix", inputs, {{"weights", ir::FloatsValue({9, 1})}, {"stop", ir::StringValue("all")}});
    builder.SkipFailed(max_errors);
    const Ran ran = RunEveryWay(builder);
    EXPECT_EQ(ran.error.ok(), max_errors == 4) << ran.error;
    EXPECT_GT(ran.rows.size(), 0u);
  }
}

// All rows of the first input fail, below a filter; the other has twelve that do not.
GraphBuilder WithoutFirst(int64_t failing, uint64_t max_errors) {
  GraphBuilder builder;
  Ints all(static_cast<size_t>(failing));
  std::iota(all.begin(), all.end(), 0);
  uint32_t first = builder.Add("Range", {}, {{"stop", IntValue(failing)}});
  first = builder.Add("test_counted", {first});
  first = builder.Add("test_fail", {first}, {{"values", ir::IntsValue(all)}});
  const auto condition = ir::CallExpression(">", ir::ColumnExpression("value"), ir::LiteralExpression(IntValue(-1)));
  first = builder.Add("filter", {first}, {{"predicate", ir::ExpressionValue(condition)}});
  const uint32_t other = builder.Add("Range", {}, {{"start", IntValue(10000)}, {"stop", IntValue(10012)}});
  builder.Add("mix", {first, other}, {{"weights", ir::FloatsValue({1, 1})}, {"stop", ir::StringValue("all")}});
  builder.SkipFailed(max_errors);
  return builder;
}

TEST(Mix, CountsWhatWasRemovedBeforeTheRowBehindItComes) {
  constexpr int kFailing = 3000;
  PipelineOptions options = OptionsOf({});
  options.window = 1;
  counted_rows = 0;
  const Ran ran = *RunOnce(*WithoutFirst(kFailing, 3).Build(), options);
  EXPECT_THAT(ran.error.ToString(), HasSubstr("4 rows of epoch 0 failed"));
  EXPECT_LT(counted_rows, kFailing / 2);
}

TEST(Mix, CountsWhatWasRemovedWhereNoRowIsBehindIt) {
  for (const uint64_t max_errors : {8, 9}) {
    GraphBuilder builder = WithoutFirst(9, max_errors);
    const Ran ran = RunEveryWay(builder);
    EXPECT_EQ(ran.error.ok(), max_errors == 9) << ran.error;
    if (ran.error.ok()) {
      EXPECT_THAT(ran.Ints(), SizeIs(12));
    }
    builder.Add("batch", {LastOf(builder)}, {{"size", IntValue(5)}});
    EXPECT_EQ(RunEveryWay(builder).error.ok(), max_errors == 9);
  }
}

TEST(Mix, WhoseDrawsDoNotFitIsRefused) {
  PipelineOptions options = OptionsOf({});
  options.memory = 1 << 20;
  const auto made = [&](const Mixture& mixture) { return Pipeline::Make(*Mixed(mixture).Build(), options).status(); };
  EXPECT_THAT(made({.sizes = {10, 10}, .weights = {1e-9, 1}, .stop = "repeat"}).ToString(), HasSubstr("raise memory="));
  EXPECT_THAT(made({.sizes = {1000000, 10}, .weights = {1, 1}}).ToString(), HasSubstr("draws 1000010 rows or more"));
  EXPECT_TRUE(made({.sizes = {100000, 10}, .weights = {1, 1}}).ok());
}

}  // namespace
}  // namespace headrace
