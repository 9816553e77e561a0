#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/row_id.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GraphBuilder Over(int64_t rows, int64_t times, bool shuffle = false) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", BoolValue(shuffle)}});
  builder.Add("Repeated", {0}, {{"times", IntValue(times)}});
  return builder;
}

TEST(Repeated, GivesEachRowSeveralTimesInSuccession) {
  const Ran ran = RunEveryWay(Over(3, 2));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_THAT(ran.Keys(), ElementsAre(0, MixKey(0, 1), 1, MixKey(1, 1), 2, MixKey(2, 1)));
  EXPECT_THAT(RunEveryWay(Over(3, 1)).Keys(), ElementsAre(0, 1, 2));
  EXPECT_THAT(RunEveryWay(Over(0, 5)).Ints(), IsEmpty());
}

TEST(Repeated, KeepsTheOrderOfAShuffle) {
  GraphBuilder plain;
  plain.Add("Range", {}, {{"stop", IntValue(20)}, {"shuffle", BoolValue(true)}});
  const std::vector<int64_t> shuffled = RunEveryWay(plain).Ints();
  const std::vector<int64_t> repeated = RunEveryWay(Over(20, 3, true)).Ints();
  for (size_t i = 0; i < repeated.size(); ++i) EXPECT_EQ(repeated[i], shuffled[i / 3]);
}

TEST(Repeated, OfARepetitionCountsEach) {
  GraphBuilder builder = Over(2, 2);
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
    GraphBuilder builder = Over(3, 3);
    builder.Add(cut, {1}, {{"count", IntValue(cut == std::string_view("take") ? 8 : 1)}});
    builder.Add("Repeated", {2}, {{"times", IntValue(2)}});
    std::vector<uint64_t> keys = RunEveryWay(builder).Keys();
    EXPECT_EQ(keys.size(), 16);
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end()) << cut;
  }
}

TEST(Repeated, GoesToDifferentRanks) {
  const std::vector<Ran> ranks = RunRanks(Over(4, 3), 3);
  for (const Ran& rank : ranks) EXPECT_THAT(rank.Ints(), ElementsAre(0, 1, 2, 3));
}

TEST(Repeated, IsRefusedWhereItCannotCount) {
  GraphBuilder builder = Over(int64_t{1} << 62, 1 << 30);
  EXPECT_THAT(Refusal(builder), HasSubstr("more than 64 bits can count"));
  GraphBuilder batched;
  batched.Add("Range", {}, {{"stop", IntValue(4)}});
  batched.Add("batch", {0}, {{"size", IntValue(2)}});
  batched.Add("Repeated", {1}, {{"times", IntValue(2)}});
  EXPECT_THAT(Refusal(batched), HasSubstr("acts on the numbers of rows"));
  EXPECT_THAT(Refusal(Over(4, 0)), HasSubstr("times is 0; it must be at least 1"));
}

}  // namespace
}  // namespace headrace
