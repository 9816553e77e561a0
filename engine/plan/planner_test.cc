// Plans of small graphs, without a thread: what is fixed, what is left open, and what is refused.
#include "engine/plan/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "engine/plan/plan_text.h"
#include "engine/testing/fake_ops.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = PlannedStage::Kind;

// On a machine of two cores, whatever this one has.
PlanOptions TwoCores() {
  PlanOptions options;
  options.cores = 2;
  return options;
}

absl::StatusOr<PhysicalPlan> PlanOf(const FakeGraph& graph, const PlanOptions& options = TwoCores()) {
  auto prepared = PreparedGraph::Make(graph.Build(), options);
  return prepared.ok() ? MakePlan(**prepared, options) : prepared.status();
}

std::vector<std::string> StageNames(const PhysicalPlan& plan) {
  std::vector<std::string> names;
  for (const PlannedStage& stage : plan.stages) names.push_back(stage.name);
  return names;
}

FakeGraph Training() {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(20)}, {"io", BoolValue(true)}});
  graph.Add("fake_work");
  graph.Add("fake_window", {{"rows", IntValue(4)}});
  graph.Add("fake_repeat", {{"count", IntValue(3)}});
  return graph;
}

TEST(Planner, LaysNeighboursOutInStages) {
  const PhysicalPlan plan = *PlanOf(Training());
  EXPECT_THAT(StageNames(plan), ElementsAre("fake_window[2] + fake_repeat[3]", "fake_work[1]", "fake_count[0]"));
  EXPECT_EQ(plan.stages[0].kind, Kind::kStream);
  EXPECT_THAT(plan.stages[0].inputs, ElementsAre(1));
  EXPECT_THAT(plan.stages[0].operators, ElementsAre(2, 3));
  EXPECT_EQ(plan.stages[1].kind, Kind::kRow);
  EXPECT_EQ(plan.stages[1].lane, Lane::kCpu);
  EXPECT_EQ(plan.stages[1].cap, PlannedStage::kNoCap);
  EXPECT_EQ(plan.stages[2].kind, Kind::kIndexedSource);
  EXPECT_EQ(plan.stages[2].depth, 2);
}

TEST(Planner, LeavesTheNumberOfReadsOpen) {
  const PlannedStage source = PlanOf(Training())->stages[2];
  EXPECT_EQ(source.lane, Lane::kIo);
  EXPECT_EQ(source.first_cap, PlannedStage::kFirstReads);
  EXPECT_EQ(source.cap, PlannedStage::kMostReads);
  PlanOptions fixed = TwoCores();
  fixed.workers = 3;
  EXPECT_EQ(PlanOf(Training(), fixed)->stages[2].first_cap, 3);
  EXPECT_EQ(PlanOf(Training(), fixed)->stages[2].cap, 3);
}

TEST(Planner, KeepsGroupsOfArraysInTheNearestCache) {
  FakeGraph scalars;
  scalars.Add("fake_count");
  EXPECT_EQ(PlanOf(scalars)->stages[0].group_bytes, 128 << 10);
  FakeGraph arrays;
  arrays.Add("fake_count", {{"bytes", IntValue(100)}});
  EXPECT_EQ(PlanOf(arrays)->stages[0].group_bytes, 32 << 10);
  PlanOptions little = TwoCores();
  little.memory = 1 << 20;
  EXPECT_EQ(PlanOf(scalars, little)->stages[0].group_bytes, (1 << 20) / 256);
}

TEST(Planner, FitsMessagesOfStreamsToBatchesThatGetEachRow) {
  const auto joined = [](const char* between) {
    FakeGraph graph;
    graph.Add("fake_stream");
    if (between != nullptr) graph.Add(between);
    graph.Add("fake_joined", {{"rows", IntValue(7)}});
    ir::proto::Graph grouped = graph.Build();
    grouped.mutable_nodes(0)->set_grouped(true);
    return MakePlan(**PreparedGraph::Make(grouped, TwoCores()), TwoCores())->stages.back().joined_rows;
  };
  EXPECT_EQ(joined(nullptr), 7);
  EXPECT_EQ(joined("fake_mixed"), 7);
  EXPECT_EQ(joined("fake_split"), 0);
}

TEST(Planner, FitsMessagesOfRowsByNumberToBatches) {
  const auto joined = [](bool groups) {
    FakeGraph graph;
    graph.Add("fake_count");
    graph.Add("fake_joined", {{"rows", IntValue(7)}});
    ir::proto::Graph grouped = graph.Build();
    grouped.mutable_nodes(0)->set_grouped(groups);
    return MakePlan(**PreparedGraph::Make(grouped, TwoCores()), TwoCores())->stages.back().joined_rows;
  };
  EXPECT_EQ(joined(true), 7);
  EXPECT_EQ(joined(false), 0);
}

TEST(Planner, TakesWhatTheUserFixed) {
  PlanOptions options = TwoCores();
  options.window = 5;
  options.workers = 3;
  const PhysicalPlan threaded = *PlanOf(Training(), options);
  for (const PlannedStage& stage : threaded.stages) {
    EXPECT_EQ(stage.window, 5);
    EXPECT_FALSE(stage.narrows);
    EXPECT_EQ(stage.cap, 3);
  }
  options.pull = true;
  options.window = 0;
  const PhysicalPlan pulled = *PlanOf(Training(), options);
  EXPECT_EQ(pulled.workers, 1);
  for (const PlannedStage& stage : pulled.stages) {
    EXPECT_EQ(stage.lane, Lane::kCpu);
    EXPECT_EQ(stage.window, 1);
  }
}

PlanOptions WithLimits(int workers, int window) {
  PlanOptions options = TwoCores();
  options.limits["fake_work[1]"] = {workers, window};
  return options;
}

TEST(Planner, TakesWhatTheUserFixedOfOneOperator) {
  const PhysicalPlan plain = *PlanOf(Training());
  const PhysicalPlan plan = *PlanOf(Training(), WithLimits(1, 5));
  EXPECT_EQ(plan.stages[1].cap, 1);
  EXPECT_EQ(plan.stages[1].most_cap, PlannedStage::kNoCap);
  EXPECT_EQ(plan.stages[1].window, 5);
  EXPECT_FALSE(plan.stages[1].narrows);
  EXPECT_EQ(plan.stages[0], plain.stages[0]);
  EXPECT_EQ(plan.stages[2], plain.stages[2]);
  EXPECT_EQ(plan.workers, 2);
  EXPECT_THAT(PlanText(plan), HasSubstr("fixed by fake_work[1]: workers=1 (2 without it), window=5 (128 without it)"));
  EXPECT_THAT(PlanText(plain), Not(HasSubstr("fixed")));
  EXPECT_THAT(PlanText(*PlanOf(Training(), WithLimits(0, 5))), HasSubstr("fixed by fake_work[1]: window=5"));
}

TEST(Planner, TakesTheSmallerOfTwoCaps) {
  PlanOptions options = WithLimits(3, 0);
  options.workers = 2;
  options.window = 7;
  EXPECT_EQ(PlanOf(Training(), options)->stages[1].cap, 2);
  EXPECT_EQ(PlanOf(Training(), options)->stages[1].window, 7);
  options.limits["fake_work[1]"] = {1, 9};
  EXPECT_EQ(PlanOf(Training(), options)->stages[1].cap, 1);
  EXPECT_EQ(PlanOf(Training(), options)->stages[1].window, 9);
}

TEST(Planner, GivesMoreWorkersThanCoresToTheStageThatAsksForThem) {
  FakeGraph graph = Training();
  graph.Add("fake_work");
  const PhysicalPlan plan = *PlanOf(graph, WithLimits(6, 0));
  EXPECT_EQ(plan.workers, 6);
  EXPECT_EQ(plan.stages[2].cap, 6);
  EXPECT_EQ(plan.stages[0].name, "fake_work[4]");
  EXPECT_EQ(plan.stages[0].cap, 2);
}

TEST(Planner, JoinsTheLimitsOfOperatorsThatShareAStage) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(4)}});
  graph.Add("fake_work");
  graph.Add("fake_work", {{"light", BoolValue(true)}});
  PlanOptions options = WithLimits(4, 3);
  options.limits["fake_work[2]"] = {2, 0};
  const PhysicalPlan plan = *PlanOf(graph, options);
  EXPECT_EQ(plan.stages[0].cap, 2);
  EXPECT_EQ(plan.stages[0].window, 3);
  EXPECT_THAT(PlanText(plan), HasSubstr("fixed by fake_work[1] and fake_work[2], the smaller number holds: workers=2"));
}

TEST(Planner, NumbersTheEpochsOfEachOperator) {
  PlanOptions options = TwoCores();
  options.epochs = {2, 4};
  const PhysicalPlan plan = *PlanOf(Training(), options);
  EXPECT_EQ(plan.root().epochs, (EpochRange{2, 4}));
  EXPECT_EQ(plan.operators[2].epochs, (EpochRange{6, 14}));
  EXPECT_EQ(plan.operators[0].epochs, (EpochRange{6, 14}));
}

TEST(Planner, BeginsEachOperatorWithItsPartOfTheCheckpoint) {
  PlanOptions options = TwoCores();
  const PhysicalPlan start = *PlanOf(Training(), options);
  options.checkpoint = start.checkpoint;
  options.checkpoint.front() = 7;
  const PhysicalPlan plan = *PlanOf(Training(), options);
  EXPECT_THAT(plan.operators[0].counters, ElementsAre(7));
  EXPECT_THAT(plan.operators[1].input_counters, ElementsAre(7));
  EXPECT_EQ(plan.operators[2].input_counters.front(), 7u);
  options.checkpoint.push_back(0);
  EXPECT_EQ(KindOf(PlanOf(Training(), options).status()), ErrorKind::kState);
  options.checkpoint = start.checkpoint;
  options.checkpoint.front() = 21;
  EXPECT_THAT(DescribeError(PlanOf(Training(), options).status()), HasSubstr("gave 21 rows of 20"));
}

TEST(Planner, GivesPythonThreadsOfItsOwn) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(4)}});
  graph.Add("fake_work", {{"python", BoolValue(true)}});
  const PlannedStage stage = PlanOf(graph)->stages[0];
  EXPECT_EQ(stage.lane, Lane::kPython);
  EXPECT_TRUE(stage.gated);
  EXPECT_EQ(stage.cap, 2);
  EXPECT_EQ(PlanOf(graph, WithLimits(5, 0))->stages[0].cap, 5);
}

TEST(Planner, NamesTheOperatorThatForbidsOtherRanks) {
  EXPECT_EQ(PlanOf(Training())->position_inexact, 2);
  FakeGraph exact;
  exact.Add("fake_count", {{"rows", IntValue(4)}});
  exact.Add("fake_work");
  EXPECT_EQ(PlanOf(exact)->position_inexact, -1);
}

TEST(Planner, AllowsMoreRanksThanRows) {
  PlanOptions options = TwoCores();
  options.shard.world = 21;
  EXPECT_TRUE(PlanOf(Training(), options).ok());
}

TEST(Planner, GivesEqualPlansForEqualGraphs) {
  EXPECT_EQ(*PlanOf(Training()), *PlanOf(Training()));
  PlanOptions other = TwoCores();
  other.shard = {.rank = 1, .world = 2};
  EXPECT_FALSE(*PlanOf(Training()) == *PlanOf(Training(), other));
}

std::vector<MemoryKind> MemoryOf(const PhysicalPlan& plan) {
  std::vector<MemoryKind> kinds;
  for (const PlannedStage& stage : plan.stages) kinds.push_back(stage.memory);
  return kinds;
}

TEST(Planner, HasTheResultMadeInMemoryThatItsDeviceReads) {
  constexpr MemoryKind kPlain = MemoryKind::kPlain;
  constexpr MemoryKind kPageLocked = MemoryKind::kPageLocked;
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(20)}});
  graph.Add("fake_work");
  PlanOptions options = TwoCores();
  EXPECT_THAT(MemoryOf(*PlanOf(graph, options)), ElementsAre(kPlain, kPlain));
  options.device = PlannedDevice{.name = "cpu:0"};
  EXPECT_THAT(MemoryOf(*PlanOf(graph, options)), ElementsAre(kPlain, kPlain));
  options.device = PlannedDevice{.name = "cuda:0", .sends_from = kPageLocked};
  EXPECT_THAT(MemoryOf(*PlanOf(graph, options)), ElementsAre(kPageLocked, kPlain));
}

TEST(PlanText, NamesTheDevice) {
  PlanOptions options = TwoCores();
  options.device = PlannedDevice{.name = "cuda:1", .sends_from = MemoryKind::kPageLocked, .memory = 1 << 20};
  const std::string text = PlanText(*PlanOf(Training(), options));
  EXPECT_THAT(text, HasSubstr("8 B a row, page-locked\n  └─ fake_work[1]"));
  EXPECT_THAT(
      text,
      HasSubstr("  device: cuda:1, up to 3 batches ahead, sent from page-locked memory; at most 1.0 MiB there\n"));
  options.pull = true;
  EXPECT_THAT(PlanText(*PlanOf(Training(), options)),
              HasSubstr("  device: cuda:1, one at a time, sent from page-locked memory; at most 1.0 MiB there\n"));
}

TEST(PlanText, ShowsAFolderInPrintableText) {
  PhysicalPlan plan = *PlanOf(Training());
  plan.caches.resize(1);
  plan.caches[0].op = 1;
  plan.caches[0].folder = "caf\xe9\n\x1b[31m";
  EXPECT_THAT(PlanText(plan), HasSubstr("fake_work[1]: rows by key, in memory and caf\\xe9\\n\\x1b[31m\n"));
}

TEST(PlanText, SaysALineForEachStage) {
  EXPECT_EQ(PlanText(*PlanOf(Training())),
            "Plan, from the user down (one line a stage; each fills a connector of the window given):\n"
            "  fake_window[2] + fake_repeat[3]  in order                window 128, 8 B a row\n"
            "  └─ fake_work[1]                  workers × 2             window 128, 8 B a row\n"
            "     └─ fake_count[0]              reads files × 8 to 64   window 128, 8 B a row"
            "  <- rows are sharded here\n"
            "  memory: at most 3.0 KiB; budget 2.0 GiB\n");
}

PlanOptions WithRanges() {
  PlanOptions options = TwoCores();
  options.ranges = std::make_shared<BatchRanges>(0);
  return options;
}

TEST(PlanRanges, CountInRowsOfTheRank) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(20)}});
  graph.Add("fake_work");
  EXPECT_FALSE(PlanOf(graph)->ranges.has_value());
  PlanOptions options = WithRanges();
  options.shard = {1, 3, 0, ShardAssignment::Even::kOff};
  const PhysicalPlan plan = *PlanOf(graph, options);
  EXPECT_EQ(plan.ranges->batch_rows, 1u);
  EXPECT_EQ(plan.ranges->rows, 7u);
  EXPECT_EQ(plan.ranges->batches, 7u);
  EXPECT_THAT(plan.ranges->batch_numbers, ElementsAre());
}

TEST(PlanRanges, AreRefusedAboveTheOperatorThatHidesTheNumbers) {
  const absl::Status status = PlanOf(Training(), WithRanges()).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("above it the number of a batch does not say which rows it has"));
  EXPECT_EQ(GetErrorField(status, ErrorField::kOperator), "fake_window[2]");
  EXPECT_EQ(GetErrorField(status, ErrorField::kLocation), "test.py:3");
}

TEST(PlanRanges, AreRefusedWhereRowsComeOneAfterTheOther) {
  FakeGraph graph;
  graph.Add("fake_stream", {{"rows", IntValue(20)}});
  graph.Add("fake_work");
  const absl::Status status = PlanOf(graph, WithRanges()).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported);
  EXPECT_THAT(std::string(status.message()), HasSubstr("gives its rows one after the other"));
  EXPECT_EQ(GetErrorField(status, ErrorField::kOperator), "fake_stream[0]");
}

TEST(PlanRanges, AreRefusedWhereLaterRowsTakeThePlacesOfThoseThatFail) {
  FakeGraph fake;
  fake.Add("fake_count", {{"rows", IntValue(20)}});
  ir::proto::Graph graph = fake.Build();
  graph.mutable_skip_failed()->set_max_errors(3);
  const PlanOptions options = WithRanges();
  const auto prepared = PreparedGraph::Make(graph, options);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  const absl::Status status = MakePlan(**prepared, options).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported);
  EXPECT_THAT(std::string(status.message()), HasSubstr("on_error(\"skip\")"));
}

}  // namespace
}  // namespace headrace
