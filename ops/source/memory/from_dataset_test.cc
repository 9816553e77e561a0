#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/row_id.h"
#include "engine/exec/iteration.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

GraphBuilder SourceFromDataset(bool shuffle = false, const ir::Schema& columns = Int64Columns("x")) {
  GraphBuilder builder;
  builder.Add("from_dataset", {},
              {{"dataset", ir::ReferenceValue("rows")},
               {"columns", ir::ColumnsValue(columns)},
               {"shuffle", BoolValue(shuffle)}});
  return builder;
}

absl::StatusOr<std::vector<Tensor>> TenTimes(uint64_t i) {
  return std::vector<Tensor>{*Tensor::Scalar(static_cast<int64_t>(10 * i))};
}

RunSpec WithFromDataset(std::shared_ptr<FakeRows> rows) {
  RunSpec spec;
  spec.bindings.rows["rows"] = std::move(rows);
  return spec;
}

RunSpec Rows(uint64_t count, FakeRows::Row row = TenTimes) {
  return WithFromDataset(std::make_shared<FakeRows>(count, row));
}

TEST(FromDataset, GivesTheRowsInTheOrderOfTheirNumbers) {
  const Ran ran = RunEveryWay(SourceFromDataset(), Rows(5));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 10, 20, 30, 40));
  EXPECT_THAT(ran.Keys(1), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(ran.cardinality, Cardinality::Of(5));
  EXPECT_THAT(ran.fingerprints, ElementsAre(Fingerprint{"from_dataset rows", 5, 0}));
}

TEST(FromDataset, ShufflesAnewInEachEpoch) {
  const Ran ran = RunEveryWay(SourceFromDataset(true), Rows(20));
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
  EXPECT_EQ(ran.Ints(0, 0).size(), 20u);
}

TEST(FromDataset, StandsBelowOperatorsOnIndices) {
  GraphBuilder builder = SourceFromDataset(true);
  builder.Add("skip", {0}, {{"count", IntValue(3)}});
  builder.Add("take", {1}, {{"count", IntValue(11)}});
  builder.Add("batch", {2}, {{"size", IntValue(4)}});
  EXPECT_EQ(RunEveryWay(builder, Rows(20)).Texts().size(), 3u);
}

TEST(FromDataset, ShardsRows) {
  const std::vector<Ran> ranks = RunRanks(SourceFromDataset(), 2, Rows(5));
  EXPECT_THAT(ranks[0].Ints(), ElementsAre(0, 20, 40));
  EXPECT_THAT(ranks[1].Ints(), ElementsAre(10, 30));
}

std::vector<uint64_t> AskedBy(const GraphBuilder& builder, const std::shared_ptr<FakeRows>& rows,
                              PipelineOptions options) {
  EXPECT_TRUE(RunOnce(*builder.Build(), std::move(options)).ok());
  return rows->asked();
}

TEST(FromDataset, AsksForTheRowsOfItsRankAlone) {
  const auto rows = std::make_shared<FakeRows>(9, TenTimes);
  RunSpec spec = WithFromDataset(rows);
  spec.epochs = 1;
  spec.shard = {.rank = 1, .world = 3};
  EXPECT_THAT(AskedBy(SourceFromDataset(), rows, OptionsOf(spec)), UnorderedElementsAre(1, 4, 7));
}

TEST(FromDataset, IsNotAskedForRowsBeforeAState) {
  RunSpec spec = Rows(40);
  spec.epochs = 1;
  GraphBuilder builder = SourceFromDataset();
  builder.Add("batch", {0}, {{"size", IntValue(4)}});
  const absl::StatusOr<Ran> whole = RunOnce(*builder.Build(), OptionsOf(spec));
  ASSERT_TRUE(whole.ok());
  for (const size_t batch : {size_t{1}, size_t{5}, size_t{9}}) {
    const auto rows = std::make_shared<FakeRows>(40, TenTimes);
    spec.bindings = WithFromDataset(rows).bindings;
    PipelineOptions options = OptionsOf(spec);
    options.checkpoint = whole->rows[batch].after.checkpoint;
    options.skip_rows = whole->rows[batch].after.skip_rows;
    const std::vector<uint64_t> asked = AskedBy(builder, rows, std::move(options));
    EXPECT_EQ(asked.size(), 40 - 4 * (batch + 1));
    EXPECT_THAT(asked, Each(Ge(4 * (batch + 1))));
  }
}

TEST(FromDataset, AsksForRunsWhereTheyAreTaken) {
  GraphBuilder builder = SourceFromDataset();
  builder.Add("batch", {0}, {{"size", IntValue(50)}});
  const auto rows = std::make_shared<FakeRows>(100, TenTimes, true);
  EXPECT_EQ(RunEveryWay(builder, WithFromDataset(rows)).Texts().size(), 2u);
  EXPECT_EQ(rows->longest(), 32u);
}

// Gives a number that it draws for each read, as of the key and the index.
class DrawnRows : public FakeRows {
 public:
  explicit DrawnRows(uint64_t first = 0) : FakeRows(4, TenTimes), first_(first) {}
  absl::Status Read(uint64_t epoch_key, absl::Span<const uint64_t> indices,
                    std::vector<std::vector<Tensor>>& rows) override {
    for (const uint64_t index : indices) {
      rows.push_back({*Tensor::Scalar(static_cast<int64_t>(MixKey(epoch_key, first_ + index)))});
    }
    return absl::OkStatus();
  }

 private:
  const uint64_t first_;
};

TEST(FromDataset, DrawsAnewForRowsThatComeAgain) {
  GraphBuilder builder = SourceFromDataset();
  builder.Add("from_dataset", {},
              {{"dataset", ir::ReferenceValue("more")}, {"columns", ir::ColumnsValue(Int64Columns("x"))}});
  builder.Add("concat", {0, 1});
  builder.Add("Repeated", {2}, {{"times", IntValue(2)}});
  builder.Add("Repeated", {3}, {{"times", IntValue(3)}});
  RunSpec spec = WithFromDataset(std::make_shared<DrawnRows>());
  spec.bindings.rows["more"] = std::make_shared<DrawnRows>(4);
  const Ran ran = RunEveryWay(builder, spec);
  const std::vector<int64_t> drawn = ran.Ints();
  EXPECT_EQ(drawn.size(), 48u);
  EXPECT_EQ(std::set<int64_t>(drawn.begin(), drawn.end()).size(), 48u);
  // The first time is as without the order.
  EXPECT_EQ(drawn[0], RunEveryWay(SourceFromDataset(), WithFromDataset(std::make_shared<DrawnRows>())).Ints()[0]);
}

// Says that processes read its rows.
class RowsInProcesses : public FakeRows {
 public:
  RowsInProcesses(uint64_t size, int processes) : FakeRows(size, TenTimes), processes_(processes) {}
  int processes() const override { return processes_; }

 private:
  const int processes_;
};

// Tasks at once of a concat or zip of two sources.
int TasksAtOnce(const std::string& joins, int first, int second) {
  GraphBuilder builder = SourceFromDataset();
  builder.Add("from_dataset", {},
              {{"dataset", ir::ReferenceValue("more")},
               {"columns", ir::ColumnsValue(Int64Columns(joins == "zip" ? "y" : "x"))}});
  builder.Add(joins, {0, 1});
  RunSpec spec;
  spec.bindings.rows["rows"] = std::make_shared<RowsInProcesses>(4, first);
  spec.bindings.rows["more"] = std::make_shared<RowsInProcesses>(4, second);
  PipelineOptions options = OptionsOf(spec);
  options.pull = false;
  auto pipeline = Pipeline::Make(*builder.Build(), options);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  return (*pipeline)->report().stages.back().cap;
}

TEST(FromDataset, IsReadByOneThreadBesideOneThatProcessesRead) {
  for (const std::string joins : {"concat", "zip"}) {
    EXPECT_EQ(TasksAtOnce(joins, 4, 2), 4) << joins;
    EXPECT_EQ(TasksAtOnce(joins, 4, 0), 1) << joins;
    EXPECT_EQ(TasksAtOnce(joins, 0, 4), 1) << joins;
  }
}

class NoLock : public HostLock {};

TEST(FromDataset, TakesNoLockForRowsThatProcessesRead) {
  GraphBuilder builder = SourceFromDataset();
  builder.Add("batch", {0}, {{"size", IntValue(4)}});
  for (const int processes : {0, 3}) {
    std::atomic<int> taken = 0;
    RunSpec spec = WithFromDataset(std::make_shared<RowsInProcesses>(20, processes));
    spec.bindings.lock = [&taken] {
      ++taken;
      return std::make_unique<NoLock>();
    };
    PipelineOptions options = OptionsOf(spec);
    options.pull = false;
    EXPECT_TRUE(RunOnce(*builder.Build(), std::move(options)).ok());
    EXPECT_EQ(taken > 0, processes == 0);
  }
}

TEST(FromDataset, PassesAnErrorOnAfterTheRowsBefore) {
  for (const bool in_runs : {false, true}) {
    const auto fails = [](uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
      if (i == 3) return MakeError(ErrorKind::kFunction, "no fourth row");
      return TenTimes(i);
    };
    const Ran ran = RunEveryWay(SourceFromDataset(), WithFromDataset(std::make_shared<FakeRows>(8, fails, in_runs)));
    EXPECT_THAT(ran.Ints(), ElementsAre(0, 10, 20));
    EXPECT_EQ(KindOf(ran.error), ErrorKind::kFunction);
    EXPECT_EQ(GetErrorField(ran.error, ErrorField::kOperator), "from_dataset[0]");
    EXPECT_EQ(GetErrorField(ran.error, ErrorField::kRow), "epoch 0, position 3");
  }
}

TEST(FromDataset, NamesTheColumnThatIsNotAsDeclared) {
  const Ran ran = RunEveryWay(SourceFromDataset(false, {{{"x", ir::ColumnType::Of(DType::kFloat32, {})}}}), Rows(2));
  EXPECT_THAT(ran.error.ToString(),
              HasSubstr("column \"x\" of row 0 of the dataset rows is int64 (); it was declared as "
                        "float32 ()"));
}

TEST(FromDataset, IsNotAskedInAnEpochThatNobodyAskedFor) {
  for (const std::string above : {"", "skip"}) {
    GraphBuilder builder = SourceFromDataset();
    if (!above.empty()) builder.Add(above, {0}, {{"count", IntValue(0)}});
    const auto rows = std::make_shared<FakeRows>(3, TenTimes);
    PipelineOptions options = OptionsOf(WithFromDataset(rows));
    options.pull = false;
    auto pipeline = Pipeline::Make(*builder.Build(), options);
    ASSERT_TRUE(pipeline.ok());
    ResultRow row;
    for (int i = 0; i < 4; ++i) ASSERT_TRUE((*pipeline)->Next(std::chrono::seconds(10), row).ok());
    EXPECT_EQ(*(*pipeline)->Next(std::chrono::milliseconds(50), row), Pipeline::Outcome::kNothingYet);
    EXPECT_EQ(rows->asked().size(), 3u) << above;
    (*pipeline)->Ask(1);
    EXPECT_EQ(*(*pipeline)->Next(std::chrono::seconds(10), row), Pipeline::Outcome::kRow);
  }
}

TEST(FromDataset, MayBeEmpty) {
  const Ran ran = RunEveryWay(SourceFromDataset(true), Rows(0));
  EXPECT_TRUE(ran.error.ok());
  EXPECT_THAT(ran.Ints(), IsEmpty());
}

TEST(FromDataset, NeedsItsObject) {
  EXPECT_THAT(Refusal(SourceFromDataset()), HasSubstr("the Python dataset rows is not here"));
  EXPECT_THAT(Refusal(SourceFromDataset(false, {}), Rows(1)), HasSubstr("columns is empty"));
}

}  // namespace
}  // namespace headrace
