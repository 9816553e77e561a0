#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/row_id.h"
#include "ir/graph.pb.h"
#include "ops/order/occurrence_key.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GraphBuilder OverRepeated(int64_t rows, int64_t times, bool shuffle = false) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", BoolValue(shuffle)}});
  builder.Add("Repeated", {0}, {{"times", IntValue(times)}});
  return builder;
}

TEST(Repeated, GivesEachRowSeveralTimesInSuccession) {
  const Ran ran = RunEveryWay(OverRepeated(3, 2));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_THAT(ran.Keys(),
              ElementsAre(0, KeyOfOccurrence(0, 0, 1), 1, KeyOfOccurrence(1, 0, 1), 2, KeyOfOccurrence(2, 0, 1)));
  EXPECT_THAT(RunEveryWay(OverRepeated(3, 1)).Keys(), ElementsAre(0, 1, 2));
  EXPECT_THAT(RunEveryWay(OverRepeated(0, 5)).Ints(), IsEmpty());
}

TEST(Repeated, KeepsTheOrderOfAShuffle) {
  GraphBuilder plain;
  plain.Add("Range", {}, {{"stop", IntValue(20)}, {"shuffle", BoolValue(true)}});
  const std::vector<int64_t> shuffled = RunEveryWay(plain).Ints();
  const std::vector<int64_t> repeated = RunEveryWay(OverRepeated(20, 3, true)).Ints();
  for (size_t i = 0; i < repeated.size(); ++i) EXPECT_EQ(repeated[i], shuffled[i / 3]);
}

TEST(Repeated, StandsBelowMapsAndAboveShuffles) {
  GraphBuilder builder;
  const uint32_t shuffled = builder.Add("Range", {}, {{"stop", IntValue(4)}, {"shuffle", BoolValue(true)}});
  const uint32_t projected = builder.Add("project", {shuffled}, {{"columns", ir::StringsValue({"value"})}});
  builder.Add("Repeated", {projected}, {{"times", IntValue(2)}});
  const ir::proto::Graph graph = *builder.Build();
  std::vector<std::string> ops;
  for (const ir::proto::Node& node : graph.nodes()) ops.push_back(node.op());
  EXPECT_THAT(ops, ElementsAre("Range", "permute", "Repeated", "project"));
  EXPECT_EQ(RunEveryWay(builder).Keys(), RunEveryWay(OverRepeated(4, 2, true)).Keys());
}

TEST(Repeated, OfARepetitionCountsEach) {
  GraphBuilder builder = OverRepeated(2, 2);
  builder.Add("Repeated", {1}, {{"times", IntValue(2)}});
  builder.Add("Repeated", {2}, {{"times", IntValue(2)}});
  const Ran ran = RunEveryWay(builder);
  EXPECT_EQ(ran.Ints(), (std::vector<int64_t>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}));
  std::vector<uint64_t> keys = ran.Keys();
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end()) << "all differ";
}

TEST(Repeated, TellsRowsApartAcrossTakeAndSkip) {
  for (const char* cut : {"take", "skip"}) {
    GraphBuilder builder = OverRepeated(3, 3);
    builder.Add(cut, {1}, {{"count", IntValue(cut == std::string_view("take") ? 8 : 1)}});
    builder.Add("Repeated", {2}, {{"times", IntValue(2)}});
    std::vector<uint64_t> keys = RunEveryWay(builder).Keys();
    EXPECT_EQ(keys.size(), 16);
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end()) << cut;
  }
}

void ExpectDifferentKeysRepeated(const GraphBuilder& builder, size_t rows, const RunSpec& spec = {}) {
  std::vector<uint64_t> keys = RunEveryWay(builder, spec).Keys();
  EXPECT_EQ(keys.size(), rows);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

uint32_t AddRange(GraphBuilder& builder, int64_t stop) { return builder.Add("Range", {}, {{"stop", IntValue(stop)}}); }

// The second input the third time, the third one the second time.
TEST(Repeated, TellsTimesFromTheNumbersOfInputs) {
  GraphBuilder builder;
  const uint32_t first = AddRange(builder, 4);
  const uint32_t second = AddRange(builder, 4);
  const uint32_t third = builder.Add("Repeated", {AddRange(builder, 4)}, {{"times", IntValue(2)}});
  builder.Add("Repeated", {builder.Add("concat", {first, second, third})}, {{"times", IntValue(3)}});
  ExpectDifferentKeysRepeated(builder, 48);
}

TEST(Repeated, TellsTimesApartAboveZip) {
  GraphBuilder builder;
  const uint32_t first = builder.Add("Repeated", {AddRange(builder, 4)}, {{"times", IntValue(2)}});
  const uint32_t second =
      builder.Add("Numpy", {}, {{"arrays", ir::ReferenceValue("a")}, {"columns", ir::ColumnsValue(Int64Columns("a"))}});
  builder.Add("Repeated", {builder.Add("zip", {first, second})}, {{"times", IntValue(3)}});
  RunSpec spec;
  spec.bindings.arrays["a"].columns = {{"a", Int64s({0, 1, 2, 3, 4, 5, 6, 7})}};
  ExpectDifferentKeysRepeated(builder, 24, spec);
}

// Rows that fill the last round, too: the passes of one input are not the numbers of others.
TEST(Repeated, TellsPassesOfPaddingFromTheNumbersOfInputs) {
  GraphBuilder builder;
  const uint32_t first = AddRange(builder, 1);
  const uint32_t inner = builder.Add("concat", {AddRange(builder, 1), AddRange(builder, 1)});
  builder.Add("concat", {first, inner});
  RunSpec spec;
  spec.shard.even = ShardAssignment::Even::kPad;
  std::vector<uint64_t> keys;
  for (const Ran& rank : RunRanks(builder, 5, spec)) {
    const std::vector<uint64_t> of_rank = rank.Keys();
    keys.insert(keys.end(), of_rank.begin(), of_rank.end());
  }
  EXPECT_EQ(keys.size(), 5);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

TEST(Repeated, GoesToDifferentRanks) {
  const std::vector<Ran> ranks = RunRanks(OverRepeated(4, 3), 3);
  for (const Ran& rank : ranks) EXPECT_THAT(rank.Ints(), ElementsAre(0, 1, 2, 3));
}

TEST(Repeated, IsRefusedWhereItCannotCount) {
  GraphBuilder builder = OverRepeated(int64_t{1} << 62, 1 << 30);
  EXPECT_THAT(Refusal(builder), HasSubstr("more than 64 bits can count"));
  GraphBuilder batched;
  batched.Add("Range", {}, {{"stop", IntValue(4)}});
  batched.Add("batch", {0}, {{"size", IntValue(2)}});
  batched.Add("Repeated", {1}, {{"times", IntValue(2)}});
  EXPECT_THAT(Refusal(batched), HasSubstr("acts on the numbers of rows"));
  EXPECT_THAT(Refusal(OverRepeated(4, 0)), HasSubstr("times is 0; it must be at least 1"));
}

}  // namespace
}  // namespace headrace
