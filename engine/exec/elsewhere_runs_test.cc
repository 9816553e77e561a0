// Rows that are made elsewhere: the run is the one that makes them itself, and reads nothing of its source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "engine/exec/pipeline.h"
#include "engine/plan/batch_numbers.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

using ir::IntsValue;
using ir::IntValue;
using ::testing::HasSubstr;

// The rows of fake_count, which begin again beyond the last one.
class CountedElsewhere : public HostRows {
 public:
  explicit CountedElsewhere(uint64_t fail = 1000, DType type = DType::kInt64, uint64_t size = 23)
      : fail_(fail), type_(type), size_(size) {}

  uint64_t size() const override { return size_; }
  bool in_runs() const override { return true; }
  absl::Status Read(uint64_t epoch, absl::Span<const uint64_t> indices,
                    std::vector<std::vector<Tensor>>& rows) override {
    if (epochs_.empty() || epochs_.back() != epoch) epochs_.push_back(epoch);
    for (const uint64_t index : indices) {
      if (index == fail_) return DataError("row ", index, " failed elsewhere");
      last_ = std::max(last_, index);
      const auto value = static_cast<int64_t>(index % size_);
      rows.push_back({type_ == DType::kInt64 ? *Tensor::Scalar(value) : *Tensor::Scalar(static_cast<float>(value))});
    }
    return absl::OkStatus();
  }

  // Those whose rows it was asked for, in order.
  const std::vector<uint64_t>& epochs() const { return epochs_; }
  uint64_t last() const { return last_; }

 private:
  std::vector<uint64_t> epochs_;
  uint64_t last_ = 0;
  const uint64_t fail_;
  const DType type_;
  const uint64_t size_;
};

FakeGraph WindowOverWork() {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(23)}});
  // Not run.
  graph.Add("fake_work", {{"fail", IntsValue({3})}});
  graph.Add("fake_window", {{"rows", IntValue(4)}});
  graph.Add("fake_drop", {{"modulus", IntValue(5)}});
  return graph;
}

FakeGraph SameWithoutFailure() {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(23)}});
  graph.Add("fake_work");
  graph.Add("fake_window", {{"rows", IntValue(4)}});
  graph.Add("fake_drop", {{"modulus", IntValue(5)}});
  return graph;
}

// That both gave the same rows, and were at the same places after each.
void ExpectSameRuns(const absl::StatusOr<PipelineRun>& elsewhere, const absl::StatusOr<PipelineRun>& here) {
  ASSERT_TRUE(here.ok() && elsewhere.ok()) << elsewhere.status();
  EXPECT_TRUE(here->error.ok() && elsewhere->error.ok()) << elsewhere->error;
  EXPECT_EQ(elsewhere->epochs, here->epochs);
  ASSERT_EQ(elsewhere->positions.size(), here->positions.size());
  for (size_t i = 0; i < here->positions.size(); ++i) {
    EXPECT_EQ(elsewhere->positions[i].checkpoint, here->positions[i].checkpoint);
    EXPECT_EQ(elsewhere->positions[i].delivered, here->positions[i].delivered);
    EXPECT_EQ(elsewhere->positions[i].removed, here->positions[i].removed);
  }
}

TEST(ElsewhereRuns, GiveTheRowsAndPositionsOfTheRunItself) {
  for (const uint64_t world : {1u, 3u}) {
    PipelineOptions options;
    options.pull = true;
    options.epochs = {1, 2};
    options.shard = {world - 1, world, 0, ShardAssignment::Even::kOff};
    const absl::StatusOr<PipelineRun> here = RunPipeline(SameWithoutFailure().Build(), options);
    options.rows_elsewhere = std::make_shared<CountedElsewhere>();
    const absl::StatusOr<PipelineRun> elsewhere = RunPipeline(WindowOverWork().Build(), options);
    ExpectSameRuns(elsewhere, here);
  }
}

TEST(ElsewhereRuns, HaveTheLayoutOfStatesOfTheRunItself) {
  PlanOptions options;
  const auto here = PreparedGraph::Make(WindowOverWork().Build(), options);
  options.rows_elsewhere = std::make_shared<CountedElsewhere>();
  const auto elsewhere = PreparedGraph::Make(WindowOverWork().Build(), options);
  ASSERT_TRUE(here.ok() && elsewhere.ok());
  EXPECT_EQ(CheckpointLayout((*here)->root()), CheckpointLayout((*elsewhere)->root()));
  EXPECT_EQ((*here)->fingerprints(), (*elsewhere)->fingerprints());
  EXPECT_EQ((*elsewhere)->nodes().size(), 3u);
}

TEST(ElsewhereRuns, EndWhereARowFailed) {
  PipelineOptions options;
  options.pull = true;
  options.rows_elsewhere = std::make_shared<CountedElsewhere>(/*fail=*/7);
  const absl::StatusOr<PipelineRun> run = RunPipeline(WindowOverWork().Build(), options);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(KindOf(run->error), ErrorKind::kData);
  EXPECT_THAT(std::string(run->error.message()), HasSubstr("row 7 failed elsewhere"));
}

TEST(ElsewhereRuns, LeaveOutRowsThatFailedElsewhereAsTheRunItselfDoes) {
  PipelineOptions options;
  options.pull = true;
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(23)}});
  graph.Add("fake_work", {{"fail", IntsValue({3})}});
  ir::proto::Graph skipping = graph.Build();
  skipping.mutable_skip_failed()->set_max_errors(100);
  const absl::StatusOr<PipelineRun> here = RunPipeline(skipping, options);
  // The row that fake_work fails on.
  options.rows_elsewhere = std::make_shared<CountedElsewhere>(/*fail=*/3);
  const absl::StatusOr<PipelineRun> elsewhere = RunPipeline(skipping, options);
  ExpectSameRuns(elsewhere, here);
  EXPECT_EQ(here->AllValues().size(), 22u);
}

TEST(ElsewhereRuns, RefuseRowsOfAnotherType) {
  PipelineOptions options;
  options.pull = true;
  options.rows_elsewhere = std::make_shared<CountedElsewhere>(1000, DType::kFloat32);
  const absl::StatusOr<PipelineRun> run = RunPipeline(WindowOverWork().Build(), options);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(std::string(run->error.message()),
              HasSubstr("row 0, which was made elsewhere, has float32 () in column \"value\", which is int64 () here"));
}

TEST(ElsewhereRuns, RefuseAnotherNumberOfRows) {
  for (const uint64_t size : {22u, 24u, 0u}) {
    PlanOptions options;
    options.rows_elsewhere = std::make_shared<CountedElsewhere>(1000, DType::kInt64, size);
    const absl::Status status = PreparedGraph::Make(WindowOverWork().Build(), options).status();
    EXPECT_EQ(KindOf(status), ErrorKind::kGraph);
    EXPECT_THAT(std::string(status.message()), HasSubstr(Cat("has 23 rows, and ", size, " were made elsewhere")));
  }
}

TEST(ElsewhereRuns, ReadAsManyAtOnceAsOtherRowsOfTheHost) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(23)}});
  graph.Add("fake_window", {{"rows", IntValue(4)}});
  PlanOptions options;
  options.rows_elsewhere = std::make_shared<CountedElsewhere>();
  const auto prepared = PreparedGraph::Make(graph.Build(), options);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ(NumberedSource((*prepared)->root()).properties.run_rows, CountedElsewhere().run_rows());
}

TEST(ElsewhereRuns, NeedRowsThatAreFoundByTheirNumbers) {
  FakeGraph graph;
  graph.Add("fake_stream", {{"rows", IntValue(5)}});
  graph.Add("fake_work");
  PlanOptions options;
  options.rows_elsewhere = std::make_shared<CountedElsewhere>();
  const absl::Status status = PreparedGraph::Make(graph.Build(), options).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported);
  EXPECT_EQ(GetErrorField(status, ErrorField::kOperator), "fake_stream[0]");
}

// Expects the run of the graph itself, with rows that are made elsewhere.
void ExpectSame(const ir::proto::Graph& graph, PipelineOptions options, const std::shared_ptr<CountedElsewhere>& rows) {
  const absl::StatusOr<PipelineRun> here = RunPipeline(graph, options);
  options.rows_elsewhere = rows;
  const absl::StatusOr<PipelineRun> elsewhere = RunPipeline(graph, options);
  ExpectSameRuns(elsewhere, here);
}

TEST(ElsewhereRuns, AskForTheRowsOfEachEpochThatARepeatRuns) {
  FakeGraph graph = SameWithoutFailure();
  graph.Add("fake_repeat", {{"count", IntValue(2)}});
  PipelineOptions options;
  options.pull = true;
  options.epochs = {1, 2};
  const auto rows = std::make_shared<CountedElsewhere>();
  ExpectSame(graph.Build(), options, rows);
  EXPECT_EQ(rows->epochs(), (std::vector<uint64_t>{2, 3, 4, 5}));
}

TEST(ElsewhereRuns, AskForRowsThatPadBeyondTheLast) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(23)}});
  graph.Add("fake_window", {{"rows", IntValue(4)}});
  for (const uint64_t base : {0u, 5u}) {
    PipelineOptions options;
    options.pull = true;
    options.shard = {3, 4, base, ShardAssignment::Even::kPad};
    const auto rows = std::make_shared<CountedElsewhere>();
    ExpectSame(graph.Build(), options, rows);
    // Rank 3 has the positions base + 3, base + 7 and so on.
    EXPECT_EQ(rows->last(), base == 0 ? 23u : 24u);
  }
}

}  // namespace
}  // namespace headrace
