// Random graphs give the same rows in the same order, and the same error, however their tasks are run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "core/error.h"
#include "core/testing/rounds.h"
#include "engine/exec/pipeline.h"
#include "engine/testing/cooperative_threads.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

const int kPipelineOrderHandSchedules = Rounds(6000, {.quick = 600, .sanitized = 400});
const int kPipelineOrderThreadSchedules = Rounds(2500, {.quick = 250, .sanitized = 200});
const int kRestartGraphs = Rounds(120, {.quick = 15, .sanitized = 15});

using ir::BoolValue;
using ir::IntsValue;
using ir::IntValue;

// The expected rows of one epoch, from the definitions of its operators alone.
struct PipelineOrderRows {
  std::vector<int64_t> values;
  bool failed = false;  // instead of giving the next row
};

struct RandomGraph {
  FakeGraph graph;
  PipelineOrderRows rows;
};

struct Allowed {
  bool errors = true;
  bool groups = true;  // messages of several rows
};

class GraphMaker {
 public:
  GraphMaker(uint64_t seed, Allowed allowed) : random_(seed), allowed_(allowed) {}

  RandomGraph Make() {
    RandomGraph made;
    made.rows = Branch(made.graph, 1 + static_cast<int>(random_.Below(5)), true);
    return made;
  }

 private:
  int64_t Below(uint64_t bound) { return static_cast<int64_t>(random_.Below(bound)); }

  PipelineOrderRows Branch(FakeGraph& graph, int ops, bool may_pair) {
    PipelineOrderRows rows;
    if (may_pair && random_.OneIn(4)) {
      rows = PairOf(graph);
    } else {
      const int64_t count = random_.OneIn(8) ? Below(3) : Below(40);
      for (int64_t i = 0; i < count; ++i) rows.values.push_back(i);
      if (random_.OneIn(4)) {
        last_ = graph.Add("fake_stream", {{"rows", IntValue(count)}, {"python", BoolValue(random_.OneIn(8))}});
      } else {
        last_ = graph.Add("fake_count", {{"rows", IntValue(count)}, {"io", BoolValue(random_.OneIn(3))}});
      }
    }
    for (int i = 0; i < ops; ++i) AddOp(graph, rows);
    return rows;
  }

  PipelineOrderRows PairOf(FakeGraph& graph) {
    const PipelineOrderRows left = Branch(graph, static_cast<int>(random_.Below(3)), false);
    const uint32_t left_node = last_;
    const PipelineOrderRows right = Branch(graph, static_cast<int>(random_.Below(3)), false);
    PipelineOrderRows rows;
    const size_t most = std::max(left.values.size(), right.values.size()) + 1;
    for (size_t i = 0; i < most; ++i) {
      const bool left_over = i >= left.values.size();
      const bool over = left_over || i >= right.values.size();
      if (!over) {
        rows.values.push_back(left.values[i] * 1000 + right.values[i]);
        continue;
      }
      rows.failed = left_over ? left.failed : right.failed;
      break;
    }
    last_ = graph.Add("fake_pair", {}, {left_node, last_});
    return rows;
  }

  void AddOp(FakeGraph& graph, PipelineOrderRows& rows) {
    switch (random_.Below(9)) {
      case 0:
      case 1:
        return AddWork(graph, rows);
      case 2: {
        const int64_t modulus = 2 + Below(3);
        last_ = graph.Add("fake_drop", {{"modulus", IntValue(modulus)}, {"light", BoolValue(random_.OneIn(2))}});
        std::erase_if(rows.values, [modulus](int64_t value) { return value % modulus == 0; });
        return;
      }
      case 3:
        return AddSplit(graph, rows);
      case 4:
        last_ = graph.Add("fake_window", {{"rows", IntValue(Below(6))}, {"growth", IntValue(Below(2))}});
        return;
      case 5: {
        const int64_t count = Below(20);
        last_ = graph.Add("fake_take", {{"count", IntValue(count)}});
        if (static_cast<size_t>(count) > rows.values.size()) return;
        rows.values.resize(static_cast<size_t>(count));
        rows.failed = false;
        return;
      }
      case 6: {
        const int64_t count = 1 + Below(3);
        last_ = graph.Add("fake_repeat", {{"count", IntValue(count)}});
        const std::vector<int64_t> pass = rows.values;
        for (int64_t i = 1; i < count && !rows.failed; ++i) {
          rows.values.insert(rows.values.end(), pass.begin(), pass.end());
        }
        return;
      }
      case 7:
        if (allowed_.groups) last_ = graph.Add("fake_group", {{"rows", IntValue(2 + Below(4))}});
        return;
      default:
        last_ = graph.Add("fake_work", {{"light", BoolValue(true)}});
    }
  }

  void AddWork(FakeGraph& graph, PipelineOrderRows& rows) {
    FakeGraph::Given given = {{"cost", IntValue(random_.OneIn(3) ? 60 : 0)}, {"python", BoolValue(random_.OneIn(12))}};
    if (allowed_.errors && random_.OneIn(5) && !rows.values.empty()) {
      const int64_t bad = rows.values[random_.Below(rows.values.size())];
      given.emplace_back("fail", IntsValue({bad}));
      const auto first = std::find(rows.values.begin(), rows.values.end(), bad);
      rows.values.erase(first, rows.values.end());
      rows.failed = true;
    }
    last_ = graph.Add("fake_work", given);
  }

  void AddSplit(FakeGraph& graph, PipelineOrderRows& rows) {
    if (splits_++ > 1) return;
    last_ = graph.Add("fake_split");
    PipelineOrderRows split;
    split.failed = rows.failed;
    for (const int64_t value : rows.values) {
      for (int64_t i = 0; i < value % 4; ++i) split.values.push_back(value * 8 + i);
    }
    rows = std::move(split);
  }

  ScheduleRandom random_;
  const Allowed allowed_;
  uint32_t last_ = 0;
  int splits_ = 0;
};

PipelineOptions RandomOptions(ScheduleRandom& random) {
  PipelineOptions options;
  options.epochs = {0, random.Below(3)};
  options.workers = static_cast<int>(random.Below(5));
  options.window = static_cast<int>(random.Below(6));
  const int64_t memories[] = {int64_t{2} << 30, int64_t{1} << 20, int64_t{1} << 15};
  options.memory = memories[random.Below(3)];
  return options;
}

void CheckRunPipelineOrder(const absl::StatusOr<PipelineRun>& run, const PipelineOrderRows& rows,
                           const PipelineOptions& options) {
  ASSERT_TRUE(run.ok()) << DescribeError(run.status());
  EXPECT_EQ(run->error.ok(), !rows.failed) << DescribeError(run->error);
  std::vector<int64_t> expected;
  const uint64_t epochs = rows.failed ? 1 : options.epochs.last + 1;
  for (uint64_t epoch = 0; epoch < epochs; ++epoch) {
    expected.insert(expected.end(), rows.values.begin(), rows.values.end());
  }
  EXPECT_EQ(run->AllValues(), expected);
}

TEST(PipelineOrder, IsTheSameWhateverTaskRunsNext) {
  for (int i = 0; i < kPipelineOrderHandSchedules && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    ScheduleRandom random(static_cast<uint64_t>(i));
    const RandomGraph graph = GraphMaker(random.Below(1 << 30), {}).Make();
    SCOPED_TRACE(graph.graph.Text());
    const PipelineOptions options = RandomOptions(random);
    const int workers = 1 + static_cast<int>(random.Below(6));
    CheckRunPipelineOrder(RunByHand(graph.graph.Build(), options, static_cast<uint64_t>(i), workers), graph.rows,
                          options);
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", kPipelineOrderHandSchedules);
}

TEST(PipelineOrder, IsTheSameWithThreads) {
  for (int i = 0; i < kPipelineOrderThreadSchedules && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    ScheduleRandom random(1'000'000 + static_cast<uint64_t>(i));
    const RandomGraph graph = GraphMaker(random.Below(1 << 30), {}).Make();
    SCOPED_TRACE(graph.graph.Text());
    PipelineOptions options = RandomOptions(random);
    options.pull = random.OneIn(6);
    CheckRunPipelineOrder(RunPipeline(graph.graph.Build(), options), graph.rows, options);
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", kPipelineOrderThreadSchedules);
}

TEST(PipelineOrder, GoesOnFromEveryRow) {
  int restarts = 0;
  for (int i = 0; i < kRestartGraphs && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    ScheduleRandom random(2'000'000 + static_cast<uint64_t>(i));
    const RandomGraph graph = GraphMaker(random.Below(1 << 30), {.errors = false, .groups = false}).Make();
    SCOPED_TRACE(graph.graph.Text());
    const ir::proto::Graph built = graph.graph.Build();
    PipelineOptions options;
    options.epochs = {0, 1};
    options.pull = true;
    const absl::StatusOr<PipelineRun> whole = RunPipeline(built, options);
    CheckRunPipelineOrder(whole, graph.rows, options);
    if (HasFailure()) return;
    const std::vector<int64_t> all = whole->AllValues();
    // All of a short run, some of a long one.
    const size_t step = 1 + all.size() / 60;
    for (size_t at = 0; at < all.size() && !HasFailure(); at += step) {
      SCOPED_TRACE(testing::Message() << "after row " << at << " of " << all.size());
      PipelineOptions later = options;
      later.pull = !random.OneIn(10);
      later.epochs.first = whole->positions[at].epoch;
      later.checkpoint = whole->positions[at].checkpoint;
      later.skip_rows = whole->positions[at].skip_rows;
      later.delivered = whole->positions[at].delivered;
      const absl::StatusOr<PipelineRun> rest = RunPipeline(built, later);
      ASSERT_TRUE(rest.ok()) << DescribeError(rest.status());
      ASSERT_TRUE(rest->error.ok()) << DescribeError(rest->error);
      EXPECT_EQ(rest->AllValues(), std::vector<int64_t>(all.begin() + static_cast<std::ptrdiff_t>(at) + 1, all.end()));
      if (!rest->positions.empty()) {
        EXPECT_EQ(rest->positions[0].delivered, whole->positions[at + 1].delivered);
      }
      ++restarts;
    }
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", restarts);
}

TEST(PipelineOrder, ErrorsSayWhereTheyHappened) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(30)}});
  graph.Add("fake_work", {{"cost", IntValue(100)}, {"fail", IntsValue({7, 3, 20})}});
  graph.Add("fake_group", {{"rows", IntValue(2)}});
  for (const bool pull : {true, false}) {
    PipelineOptions options;
    options.pull = pull;
    const auto pipeline = Pipeline::Make(graph.Build(), options);
    ASSERT_TRUE(pipeline.ok());
    ResultRow row;
    for (int64_t value = 0; value < 3; ++value) {
      ASSERT_TRUE((*pipeline)->Next(std::chrono::seconds(60), row).ok());
      EXPECT_EQ(CheckedValue(row), value);
    }
    // The first in row order wins, whichever happened first; and it stays.
    for (int i = 0; i < 3; ++i) {
      const absl::Status error = (*pipeline)->Next(std::chrono::seconds(60), row).status();
      EXPECT_EQ(KindOf(error), ErrorKind::kData);
      EXPECT_EQ(error.message(), "the value 3 fails");
      EXPECT_EQ(GetErrorField(error, ErrorField::kOperator), "fake_work[1]");
      EXPECT_EQ(GetErrorField(error, ErrorField::kLocation), "test.py:2");
      EXPECT_EQ(GetErrorField(error, ErrorField::kRow), "epoch 0, key 3");
      EXPECT_EQ(GetErrorField(error, ErrorField::kFile), "record 3");
    }
  }
}

// Errors of rows that are not read are not part of the result.
TEST(PipelineOrder, ErrorsBeyondTheEndAreNotSeen) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(30)}});
  graph.Add("fake_work", {{"fail", IntsValue({5, 6})}});
  graph.Add("fake_take", {{"count", IntValue(5)}});
  for (const bool pull : {true, false}) {
    PipelineOptions options;
    options.pull = pull;
    options.epochs = {0, 3};
    const auto run = RunPipeline(graph.Build(), options);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_TRUE(run->error.ok()) << run->error;
    EXPECT_EQ(run->epochs, (std::vector<std::vector<int64_t>>(4, {0, 1, 2, 3, 4})));
  }
}

// FinishEpoch is answered by one end-of-epoch marker, and the source reads few of the unwanted rows.
TEST(PipelineOrder, AnswersFinishEpochByOneMarker) {
  for (int i = 0; i < 50; ++i) {
    Probe::At(1).Reset();
    Probe::At(2).Reset();
    FakeGraph graph;
    graph.Add(i % 2 == 0 ? "fake_count" : "fake_stream", {{"rows", IntValue(1'000'000)}});
    graph.Add("fake_work", {{"probe", IntValue(2)}});
    graph.Add("fake_tap", {{"probe", IntValue(1)}});
    graph.Add("fake_work");
    graph.Add("fake_take", {{"count", IntValue(4)}});
    PipelineOptions options;
    options.epochs = {0, 9};
    options.pull = i % 10 == 0;
    options.window = 1 + i % 7;
    const auto run = RunPipeline(graph.Build(), options);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->epochs, (std::vector<std::vector<int64_t>>(10, {0, 1, 2, 3})));
    std::vector<uint64_t> markers = Probe::At(1).marks();
    // The last epoch's need not have arrived.
    if (markers.size() == 9) markers.push_back(9);
    EXPECT_EQ(markers, (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_LT(Probe::At(2).rows(), 2000);
  }
}

}  // namespace
}  // namespace headrace
