#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "ir/expression.h"
#include "ops/testing/counted_rows.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ir::StringValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

uint32_t Last(const GraphBuilder& builder) { return static_cast<uint32_t>(builder.raw().nodes_size() - 1); }

GraphBuilder Rows(int64_t rows, bool shuffled = false) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", ir::BoolValue(shuffled)}});
  builder.Add("test_counted", {0});
  return builder;
}

// Rows whose order is no function of their keys.
GraphBuilder OrderedCache(int64_t rows) {
  GraphBuilder builder = Rows(rows);
  builder.Add("shuffle", {1}, {{"window", IntValue(4)}});
  return builder;
}

GraphBuilder Cached(GraphBuilder builder, const GraphBuilder::Given& attributes = {}) {
  builder.Add("cache", {Last(builder)}, attributes);
  return builder;
}

RunSpec EpochsCache(uint64_t epochs) {
  RunSpec spec;
  spec.epochs = epochs;
  return spec;
}

int CountedIn(const GraphBuilder& builder, uint64_t epochs, RunSpec spec = {}) {
  spec.epochs = epochs;
  counted_rows = 0;
  const absl::StatusOr<Ran> ran = RunOnce(*builder.Build(), OptionsOf(spec));
  EXPECT_TRUE(ran.ok() && ran->error.ok()) << ran.status();
  return counted_rows;
}

TEST(Cache, GivesTheRowsOfEpochZeroInEachEpoch) {
  for (const GraphBuilder& below : {Rows(9, true), OrderedCache(9)}) {
    const Ran ran = RunEveryWay(Cached(below));
    const Ran plain = RunEveryWay(below);
    EXPECT_EQ(ran.Ints(0, 0), plain.Ints(0, 0));
    EXPECT_EQ(ran.Ints(0, 1), plain.Ints(0, 0));
    EXPECT_NE(plain.Ints(0, 1), plain.Ints(0, 0));
    EXPECT_EQ(ran.Keys(1), plain.Keys(0));
    for (const RanRow& row : ran.rows) EXPECT_EQ(row.id.epoch, row.epoch);
  }
}

TEST(Cache, GivesRangesTheEpochThatIsAsked) {
  RunSpec spec;
  spec.first_epoch = 3;
  for (const bool transparent : {false, true}) {
    const GraphBuilder builder = Cached(Rows(9, true), {{"transparent", ir::BoolValue(transparent)}});
    ExpectRanges(builder, spec, {{2, 5}, {0, 3}, {2, 5}, {7, 20}});
  }
}

TEST(Cache, LetsWhatStandsAboveDrawAnew) {
  GraphBuilder builder = Cached(Rows(9));
  builder.Add("shuffle", {Last(builder)}, {{"window", IntValue(5)}});
  const Ran ran = RunEveryWay(builder);
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
}

TEST(Cache, LeavesEpochsAsTheyAreWhereTransparent) {
  const GraphBuilder::Given transparent = {{"transparent", ir::BoolValue(true)}};
  const GraphBuilder below = Rows(9, true);
  const GraphBuilder builder = Cached(below, transparent);
  const Ran ran = RunEveryWay(builder, EpochsCache(3));
  const Ran plain = RunEveryWay(below, EpochsCache(3));
  for (uint64_t epoch = 0; epoch < 3; ++epoch) EXPECT_EQ(ran.Ints(0, epoch), plain.Ints(0, epoch));
  for (const RanRow& row : ran.rows) EXPECT_EQ(row.id.epoch, row.epoch);
  EXPECT_NE(ran.Ints(0, 1), ran.Ints(0, 0));
  EXPECT_EQ(CountedIn(builder, 4), 9);
  const std::vector<Ran> ranks = RunRanks(builder, 2);
  const std::vector<Ran> plain_ranks = RunRanks(below, 2);
  EXPECT_EQ(ranks[1].Ints(0, 1), plain_ranks[1].Ints(0, 1));
  EXPECT_THAT(Refusal(Cached(OrderedCache(9), transparent)), HasSubstr("needs a source with random access"));
  GraphBuilder drawing = below;
  drawing.Add("map", {1});
  drawing.Step("PythonFunction", {"value"}, {"value"},
               {{"function", ir::ReferenceValue("f")}, {"random", ir::BoolValue(true)}});
  RunSpec spec;
  spec.bindings.functions["f"] = std::make_shared<FakeFunction>(nullptr);
  EXPECT_THAT(Refusal(Cached(drawing, transparent), spec), HasSubstr("random draws of one epoch for all"));
}

TEST(Cache, MakesEachRowOnce) {
  EXPECT_EQ(CountedIn(Cached(Rows(9)), 4), 9);
  EXPECT_EQ(CountedIn(Cached(Rows(200)), 3), 200) << "more rows than are measured";
  EXPECT_EQ(CountedIn(Cached(OrderedCache(9)), 4), 9);
}

TEST(Cache, MakesAnewWhatDoesNotFit) {
  EXPECT_EQ(CountedIn(Cached(Rows(9), {{"memory", IntValue(0)}}), 4), 36);
  EXPECT_EQ(CountedIn(Cached(OrderedCache(9), {{"memory", IntValue(100)}}), 4), 36);
  const int some = CountedIn(Cached(Rows(1000), {{"memory", IntValue(100'000)}}), 4);
  EXPECT_GT(some, 1500);
  EXPECT_LT(some, 3500);
}

TEST(Cache, IsRightWithNoRoomAtAll) {
  for (const GraphBuilder& below : {Rows(9, true), OrderedCache(9)}) {
    EXPECT_EQ(RunEveryWay(Cached(below, {{"memory", IntValue(0)}})).Ints(0, 1), RunEveryWay(below).Ints(0, 0));
  }
}

TEST(Cache, KeepsAShareOfTheRowsEveryWay) {
  const GraphBuilder builder = Cached(Rows(100, true), {{"memory", IntValue(10'000)}});
  RunSpec spec;
  spec.restart_every = 17;
  const Ran ran = RunEveryWay(builder, spec);
  EXPECT_EQ(ran.Ints(0, 0), ran.Ints(0, 1));
}

TEST(Cache, OfNothingIsEmpty) {
  EXPECT_TRUE(RunEveryWay(Cached(Rows(0))).rows.empty());
  EXPECT_TRUE(RunEveryWay(Cached(OrderedCache(0))).rows.empty());
}

TEST(Cache, StandsBelowTakeAndRepeat) {
  for (const GraphBuilder& below : {Rows(5), OrderedCache(5)}) {
    GraphBuilder builder = Cached(below);
    builder.Add("repeat", {Last(builder)}, {{"count", IntValue(3)}});
    builder.Add("take", {Last(builder)}, {{"count", IntValue(8)}});
    const std::vector<int64_t> once = RunEveryWay(Cached(below)).Ints(0, 0);
    std::vector<int64_t> expected = once;
    expected.insert(expected.end(), once.begin(), once.begin() + 3);
    const Ran ran = RunEveryWay(builder);
    EXPECT_EQ(ran.Ints(0, 0), expected);
    EXPECT_EQ(ran.Ints(0, 1), expected);
  }
}

// An epoch that is cut short does not pass for the whole.
TEST(Cache, FillsInTheFirstWholeEpoch) {
  GraphBuilder builder = Cached(OrderedCache(30));
  builder.Add("take", {Last(builder)}, {{"count", IntValue(7)}});
  const Ran ran = RunEveryWay(builder);
  EXPECT_EQ(ran.Ints(0, 0).size(), 7u);
  EXPECT_EQ(ran.Ints(0, 1), ran.Ints(0, 0));
}

// Its passes are the same in each epoch, and differ from each other.
TEST(Cache, HoldsTheRowsOfARepeatBelow) {
  GraphBuilder builder = OrderedCache(6);
  builder.Add("repeat", {Last(builder)}, {{"count", IntValue(2)}});
  const Ran ran = RunEveryWay(Cached(builder), EpochsCache(3));
  const std::vector<int64_t> rows = ran.Ints(0, 0);
  EXPECT_FALSE(std::equal(rows.begin(), rows.begin() + 6, rows.begin() + 6));
  EXPECT_EQ(ran.Ints(0, 1), rows);
  EXPECT_EQ(ran.Ints(0, 2), rows);
}

TEST(Cache, MayStandAboveAnother) {
  GraphBuilder keyed = Cached(Rows(7, true));
  keyed.Add("test_counted", {Last(keyed)});
  EXPECT_EQ(CountedIn(Cached(keyed), 3), 14);
  EXPECT_EQ(CountedIn(Cached(keyed, {{"memory", IntValue(0)}}), 3), 28) << "from the lower one, through one counter";
  const Ran ran = RunEveryWay(Cached(Cached(OrderedCache(7))), EpochsCache(3));
  EXPECT_EQ(ran.Ints(0, 2), ran.Ints(0, 0));
}

TEST(Cache, HoldsMessagesOfManyRowsAndOriginsOfRows) {
  GraphBuilder builder = Rows(11);
  builder.Add("batch", {Last(builder)}, {{"size", IntValue(4)}});
  builder.Add("unbatch", {Last(builder)});
  builder.Add("test_group", {Last(builder)}, {{"rows", IntValue(3)}});
  GraphBuilder cached = Cached(builder);
  EXPECT_EQ(RunEveryWay(cached).Ints(0, 1), RunEveryWay(builder).Ints(0, 0));
  cached.Add("test_fail", {Last(cached)}, {{"values", ir::IntsValue({8})}});
  EXPECT_EQ(RunEveryWay(cached).rows.size(), 8u);
}

TEST(Cache, PassesErrorsOn) {
  for (GraphBuilder below : {Rows(9), OrderedCache(9)}) {
    below.Add("test_fail", {Last(below)}, {{"values", ir::IntsValue({5})}});
    const Ran ran = RunEveryWay(Cached(below));
    EXPECT_THAT(DescribeError(ran.error), HasSubstr("the value 5 is not liked"));
    GraphBuilder taken = Cached(below);
    taken.Add("take", {Last(taken)}, {{"count", IntValue(1)}});
    EXPECT_TRUE(RunEveryWay(taken).error.ok());
  }
}

TEST(Cache, IsSharded) {
  for (const GraphBuilder& below : {Rows(11, true), OrderedCache(11)}) {
    std::vector<int64_t> all;
    for (const Ran& rank : RunRanks(Cached(below), 3)) {
      EXPECT_EQ(rank.Ints(0, 0), rank.Ints(0, 1));
      const std::vector<int64_t> rows = rank.Ints(0, 1);
      all.insert(all.end(), rows.begin(), rows.end());
    }
    EXPECT_THAT(all, UnorderedElementsAreArray({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  }
}

TEST(Cache, KeepsPaddedRowsApart) {
  RunSpec spec;
  spec.shard.even = ShardAssignment::Even::kPad;
  const std::vector<Ran> ranks = RunRanks(Cached(Rows(4)), 3, spec);
  EXPECT_THAT(ranks[2].Ints(0, 1), ElementsAre(2, 1));
  EXPECT_TRUE(ranks[2].rows.back().id.pad);
}

TEST(Cache, StandsAboveAPythonFunctionInMemoryAlone) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(5)}});
  builder.Add("map", {0});
  builder.Step("PythonFunction", {"value"}, {"value"}, {{"function", ir::ReferenceValue("f")}});
  std::atomic<int> calls{0};
  RunSpec spec;
  spec.bindings.functions["f"] = std::make_shared<FakeFunction>([&calls](absl::Span<const Tensor> inputs, RowRandom*) {
    ++calls;
    return std::vector<Tensor>{inputs[0]};
  });
  EXPECT_EQ(RunEveryWay(Cached(builder), spec).Ints(0, 1).size(), 5u);
  calls = 0;
  CountedIn(Cached(builder), 3, spec);
  EXPECT_EQ(calls, 5);
  EXPECT_THAT(Refusal(Cached(builder, {{"directory", StringValue("x")}}), spec),
              HasSubstr("nothing tells when the function changes; give version="));
}

TEST(Cache, KeepsRowsBetweenRuns) {
  for (const bool keyed : {true, false}) {
    const TemporaryFolder folder;
    const GraphBuilder below = keyed ? Rows(90, true) : OrderedCache(90);
    for (const int64_t memory : {int64_t{0}, int64_t{1} << 20}) {
      const GraphBuilder builder =
          Cached(below, {{"directory", StringValue(folder.path())}, {"memory", IntValue(memory)}});
      // Where rows are not even kept for a moment until their share is settled, the second epoch writes the first ones.
      const int first = CountedIn(builder, 3);
      EXPECT_LE(first, memory == 0 ? 180 : 0);
      EXPECT_EQ(CountedIn(builder, 3), 0);
      RunSpec spec;
      spec.restart_every = 31;
      EXPECT_EQ(RunEveryWay(builder, spec).Ints(0, 1), RunEveryWay(below, spec).Ints(0, 0));
    }
  }
}

// What is complete does not even begin to make rows ahead of time.
TEST(Cache, LeavesItsInputAloneWhereAnEarlierRunKeptAll) {
  const TemporaryFolder folder;
  GraphBuilder below = OrderedCache(40);
  below.Add("repeat", {Last(below)}, {{"count", IntValue(2)}});
  const GraphBuilder builder = Cached(below, {{"directory", StringValue(folder.path())}});
  CountedIn(builder, 1);
  PipelineOptions options = OptionsOf(EpochsCache(2));
  options.pull = false;
  counted_rows = 0;
  EXPECT_EQ(RunOnce(*builder.Build(), options)->rows.size(), 160u);
  EXPECT_EQ(counted_rows, 0);
}

TEST(Cache, NeverReadsWhatOtherGraphsKept) {
  const TemporaryFolder folder;
  const GraphBuilder::Given kept = {{"directory", StringValue(folder.path())}};
  EXPECT_EQ(CountedIn(Cached(Rows(20), kept), 1), 20);
  EXPECT_EQ(CountedIn(Cached(Rows(21), kept), 1), 21);
  EXPECT_EQ(CountedIn(Cached(OrderedCache(20), kept), 1), 20);
  RunSpec other;
  other.seed = 8;
  EXPECT_EQ(CountedIn(Cached(Rows(20), kept), 1, other), 0) << "nothing is drawn";
  EXPECT_EQ(CountedIn(Cached(OrderedCache(20), kept), 1, other), 20) << "the order is";
}

TEST(Cache, StaysWithinItsDisk) {
  const TemporaryFolder folder;
  const GraphBuilder builder = Cached(
      Rows(400), {{"directory", StringValue(folder.path())}, {"disk", IntValue(20'000)}, {"memory", IntValue(0)}});
  CountedIn(builder, 3);
  const int made = CountedIn(builder, 1);
  EXPECT_GT(made, 100);
  EXPECT_LT(made, 350);
  uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.path().extension() == ".rows") bytes += entry.file_size();
  }
  EXPECT_LE(bytes, 20'000u);
}

TEST(Cache, RefusesWhatCannotBe) {
  EXPECT_THAT(Refusal(Cached(Rows(3), {{"disk", IntValue(3)}})), HasSubstr("no directory"));
  EXPECT_THAT(Refusal(Cached(Rows(3), {{"directory", StringValue("")}})), HasSubstr("directory is empty"));
  const TemporaryFolder folder;
  folder.Write("file");
  EXPECT_THAT(Refusal(Cached(Rows(3), {{"directory", StringValue(folder / "file")}})), HasSubstr("cannot make"));
}

}  // namespace
}  // namespace headrace
