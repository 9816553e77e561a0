// Ranges of batches that one run makes: the rows, identities and positions of a run of the whole epoch, whatever the
// ranks, and in whatever order the ranges are asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/testing/rounds.h"
#include "engine/exec/iteration.h"
#include "engine/exec/pipeline.h"
#include "engine/testing/cooperative_threads.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::HasSubstr;
using Even = ShardAssignment::Even;
using RangeRunsOutcome = Pipeline::Outcome;

constexpr uint64_t kRangedEpoch = 3;

struct RangeRow {
  int64_t value = 0;
  RowId id;
  Position after;

  friend bool operator==(const RangeRow& a, const RangeRow& b) {
    return a.value == b.value && a.id == b.id && a.after.epoch == b.after.epoch &&
           a.after.delivered == b.after.delivered;
  }
};

// Up to the end of the epoch that is next.
std::vector<RangeRow> TakeEpoch(Pipeline& pipeline) {
  std::vector<RangeRow> rows;
  while (true) {
    ResultRow row;
    const absl::StatusOr<RangeRunsOutcome> outcome = pipeline.Next(std::chrono::seconds(60), row);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    if (!outcome.ok() || *outcome != RangeRunsOutcome::kRow) return rows;
    rows.push_back({CheckedValue(row), row.id, pipeline.position()});
  }
}

PipelineOptions RangeOptions(const ShardAssignment& shard) {
  PipelineOptions options;
  options.shard = shard;
  options.epochs = {kRangedEpoch, kRangedEpoch};
  options.pull = true;
  return options;
}

std::vector<RangeRow> WholeRangedEpoch(const ir::proto::Graph& graph, const PipelineOptions& options) {
  const auto pipeline = Pipeline::Make(graph, options);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  (*pipeline)->Ask(kRangedEpoch);
  return TakeEpoch(**pipeline);
}

std::vector<RangeRow> PartOf(const std::vector<RangeRow>& whole, BatchRange range) {
  const auto at = [&whole](uint64_t row) { return whole.begin() + static_cast<int64_t>(std::min(row, whole.size())); };
  return {at(range.first), at(std::max(range.first, range.end))};
}

// The range that `random` draws of an epoch of so many rows, or beyond its end.
BatchRange DrawRange(ScheduleRandom& random, uint64_t rows) {
  const uint64_t first = random.Below(rows + 2);
  return {first, first + random.Below(rows + 2)};
}

ir::proto::Graph DrawRangedGraph(ScheduleRandom& random, uint64_t run) {
  FakeGraph graph;
  const auto rows = static_cast<int64_t>(run * random.Below(25));
  const bool grows = run == 1 && random.OneIn(3);
  graph.Add("fake_count", {{"rows", IntValue(rows)},
                           {"run", IntValue(static_cast<int64_t>(run))},
                           {"io", BoolValue(random.OneIn(2))},
                           {"grows", IntValue(grows ? 2 : 0)}});
  if (!random.OneIn(3)) graph.Add("fake_work");
  if (random.OneIn(2)) graph.Add("fake_work", {{"light", BoolValue(true)}});
  return graph.Build();
}

TEST(RangeRuns, GiveThePartsOfTheEpoch) {
  const uint64_t graphs = Rounds(300, {.quick = 60, .sanitized = 40, .long_run = 2000});
  uint64_t checked = 0;
  for (uint64_t i = 0; i < graphs; ++i) {
    ScheduleRandom random(i);
    const uint64_t run = random.OneIn(3) ? 2 + random.Below(3) : 1;
    const ir::proto::Graph graph = DrawRangedGraph(random, run);
    const uint64_t world = 1 + random.Below(3);
    const Even even = std::array{Even::kOff, Even::kDrop, Even::kPad}[random.Below(3)];
    PipelineOptions options = RangeOptions({random.Below(world), world, 0, even});
    options.pull = random.OneIn(2);
    options.group = random.OneIn(2) ? static_cast<int>(1 + random.Below(5)) : 0;
    const std::vector<RangeRow> whole = WholeRangedEpoch(graph, options);
    options.ranges = std::make_shared<BatchRanges>(kRangedEpoch);
    options.epochs.last = EpochRange::kEndless;
    const auto pipeline = Pipeline::Make(graph, options);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    ASSERT_EQ((*pipeline)->plan().ranges->batches, whole.size());
    std::vector<BatchRange> asked;
    for (uint64_t number = 0; number < 6; ++number) {
      // Some are asked for before the ones before have ended.
      while (asked.size() <= number + random.Below(3)) {
        asked.push_back(DrawRange(random, whole.size()));
        (*pipeline)->AskAhead(options.ranges->Add(asked.back()));
      }
      (*pipeline)->Ask(kRangedEpoch + number);
      EXPECT_EQ((*pipeline)->position().delivered, asked[number].first);
      EXPECT_EQ(TakeEpoch(**pipeline), PartOf(whole, asked[number]))
          << "range " << asked[number].first << " to " << asked[number].end << " of graph " << i;
      ++checked;
    }
  }
  std::printf("HEADRACE-COUNT variants=%d\n", static_cast<int>(checked));
}

TEST(RangeRuns, GoOnAtTheEndOfARangeAsAfterThatRowOfTheEpoch) {
  FakeGraph fake;
  fake.Add("fake_count", {{"rows", IntValue(20)}});
  fake.Add("fake_work");
  const ir::proto::Graph graph = fake.Build();
  for (const uint64_t end : {1u, 7u, 19u}) {
    PipelineOptions options = RangeOptions({});
    options.ranges = std::make_shared<BatchRanges>(kRangedEpoch);
    options.ranges->Add({end - 1, end});
    const auto pipeline = Pipeline::Make(graph, options);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    EXPECT_EQ(TakeEpoch(**pipeline).size(), 1u);
    const Position position = (*pipeline)->position();
    EXPECT_EQ(position.epoch, kRangedEpoch);
    EXPECT_EQ(position.delivered, end);
    PipelineOptions rest = RangeOptions({});
    rest.checkpoint = position.checkpoint;
    rest.skip_rows = position.skip_rows;
    rest.delivered = position.delivered;
    EXPECT_EQ(WholeRangedEpoch(graph, rest), PartOf(WholeRangedEpoch(graph, RangeOptions({})), {end, 20}));
  }
}

TEST(RangeRuns, EndTheEpochWithItsLastRow) {
  FakeGraph fake;
  fake.Add("fake_count", {{"rows", IntValue(5)}});
  PipelineOptions options = RangeOptions({});
  options.ranges = std::make_shared<BatchRanges>(kRangedEpoch);
  options.ranges->Add({2, 9});
  const auto pipeline = Pipeline::Make(fake.Build(), options);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_EQ(TakeEpoch(**pipeline).size(), 3u);
  EXPECT_EQ((*pipeline)->position().epoch, kRangedEpoch + 1);
  EXPECT_EQ((*pipeline)->position().delivered, 0u);
  EXPECT_THAT((*pipeline)->position().checkpoint, ::testing::Each(0u));
}

TEST(RangeRuns, AreAskedForWhileAnotherThreadTakesRows) {
  FakeGraph fake;
  fake.Add("fake_count", {{"rows", IntValue(40)}});
  fake.Add("fake_work");
  PipelineOptions options = RangeOptions({});
  options.pull = false;
  options.epochs.last = EpochRange::kEndless;
  options.ranges = std::make_shared<BatchRanges>(kRangedEpoch);
  const auto pipeline = Pipeline::Make(fake.Build(), options);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  constexpr uint64_t kRanges = 30;
  std::thread asks([&] {
    for (uint64_t i = 0; i < kRanges; ++i) (*pipeline)->AskAhead(options.ranges->Add({i, i + 3}));
  });
  for (uint64_t i = 0; i < kRanges; ++i) {
    const std::vector<RangeRow> rows = TakeEpoch(**pipeline);
    ASSERT_EQ(rows.size(), 3u);
    for (uint64_t row = 0; row < 3; ++row) {
      EXPECT_EQ(rows[row].value, static_cast<int64_t>(i + row));
      EXPECT_EQ(rows[row].after.delivered, i + row + 1);
    }
  }
  asks.join();
}

ir::proto::Graph CountedToFive() {
  FakeGraph fake;
  fake.Add("fake_count", {{"rows", IntValue(5)}});
  return fake.Build();
}

TEST(RangeRuns, HaveNoStopOfTheirOwn) {
  IterateOptions options;
  options.ranges = true;
  options.stop = 3;
  const absl::Status status = Iteration::Start(CountedToFive(), std::move(options)).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kGraph);
  EXPECT_THAT(std::string(status.message()), HasSubstr("give stop, or ranges that are added, not both"));
}

TEST(RangeRuns, EndWithTheLastNumberOfAnEpoch) {
  IterateOptions options;
  options.ranges = true;
  options.pull = true;
  options.epoch = std::numeric_limits<uint64_t>::max() - 2;
  const auto iteration = Iteration::Start(CountedToFive(), std::move(options));
  ASSERT_TRUE(iteration.ok()) << iteration.status();
  absl::StatusOr<uint64_t> added = (*iteration)->AddRange({1, 2});
  for (int i = 0; i < 3 && added.ok(); ++i) added = (*iteration)->AddRange({1, 2});
  EXPECT_EQ(KindOf(added.status()), ErrorKind::kUnsupported);
  EXPECT_THAT(std::string(added.status().message()), HasSubstr("this run cannot make more ranges of batches"));
}

TEST(RangeRuns, EndWhileTheyWaitToBeAskedForMore) {
  FakeGraph fake;
  fake.Add("fake_count", {{"rows", IntValue(4)}});
  PipelineOptions options = RangeOptions({});
  options.pull = false;
  options.ranges = std::make_shared<BatchRanges>(kRangedEpoch);
  const auto pipeline = Pipeline::Make(fake.Build(), options);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  std::thread closes([&] { (*pipeline)->Close(); });
  ResultRow row;
  const absl::StatusOr<RangeRunsOutcome> outcome = (*pipeline)->Next(std::chrono::seconds(60), row);
  EXPECT_EQ(KindOf(outcome.status()), ErrorKind::kClosed);
  closes.join();
}

}  // namespace
}  // namespace headrace
