// Maps whose kernels and functions read parameters: every row has the values of its own epoch, however the map runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/host_parameter.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/value.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::FloatsValue;
using ir::FloatValue;
using ir::IntValue;
using ir::ReferenceValue;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Has value(epoch); notes which epochs were read.
class FakeParameter : public HostParameter {
 public:
  using Value = std::function<absl::StatusOr<ir::proto::Value>(uint64_t epoch)>;
  FakeParameter(std::string name, Value value) : name_(std::move(name)), value_(std::move(value)) {}

  const std::string& name() const override { return name_; }
  absl::StatusOr<ir::proto::Value> ValueIn(uint64_t epoch) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    read_.insert(epoch);
    return value_(epoch);
  }

  std::set<uint64_t> read() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return read_;
  }

 private:
  const std::string name_;
  const Value value_;
  mutable std::mutex mutex_;
  std::set<uint64_t> read_;
};

std::shared_ptr<FakeParameter> TenTimesEpoch() {
  return std::make_shared<FakeParameter>("level", [](uint64_t epoch) -> absl::StatusOr<ir::proto::Value> {
    return IntValue(static_cast<int64_t>(10 * epoch));
  });
}

RunSpec Reading(std::shared_ptr<HostParameter> parameter) {
  RunSpec spec;
  spec.bindings.functions["level#0"] = std::move(parameter);
  return spec;
}

GraphBuilder RowsMapParameters(int64_t stop) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(stop)}});
  return builder;
}

GraphBuilder::Given Level() { return {{"value", ReferenceValue("level#0")}}; }

TEST(MapParameters, AreReadInTheEpochsThatMakeUpOneOfTheResult) {
  const EpochMapping once;
  const EpochMapping thrice{.stride = 3, .runs = 3};
  EXPECT_EQ(ReaderEpochs({}, 0).In(5), (EpochRange{5, 5}));
  EXPECT_EQ(ReaderEpochs({once, thrice, once}, 0).In(2), (EpochRange{6, 8}));
  EXPECT_EQ(ReaderEpochs({thrice, thrice}, 0).In(1), (EpochRange{9, 17}));
  EXPECT_EQ(ReaderEpochs({once}, 1).In(7), (EpochRange{0, 0}));
  EXPECT_EQ(ReaderEpochs({once, thrice}, 3).In(7), (EpochRange{0, 2}));
  // Some of a cycle's epochs, in any order.
  EXPECT_EQ(ReaderEpochs({once}, 3).In(7), (EpochRange{1, 1}));
  EXPECT_EQ(ReaderEpochs({EpochMapping{.stride = 2, .runs = 2}}, 3).In(1), (EpochRange{0, 2}));
}

TEST(MapParameters, AreReadByTheRowsEpoch) {
  GraphBuilder builder = RowsMapParameters(7);
  builder.Add("map", {0});
  builder.Step("Fill", {"value"}, {"level"}, Level());
  RunSpec spec = Reading(TenTimesEpoch());
  spec.first_epoch = 3;
  const Ran ran = RunEveryWay(builder, spec);
  EXPECT_THAT(ran.Ints(1, 3), Each(30));
  EXPECT_THAT(ran.Ints(1, 4), Each(40));
}

// Epoch e of repeat(3) is epochs 3 e, 3 e + 1 and 3 e + 2 of what is below; a cache has epoch 0 alone.
TEST(MapParameters, AreReadByTheEpochAsTheReaderNumbersIt) {
  GraphBuilder builder = RowsMapParameters(2);
  builder.Add("map", {0});
  builder.Step("Fill", {"value"}, {"below"}, Level());
  builder.Add("repeat", {1}, {{"count", IntValue(3)}});
  builder.Add("map", {2});
  builder.Step("Fill", {"value"}, {"above"}, Level());
  const Ran ran = RunEveryWay(builder, Reading(TenTimesEpoch()));
  EXPECT_THAT(ran.Ints(1, 1), ElementsAre(30, 30, 40, 40, 50, 50));
  EXPECT_THAT(ran.Ints(2, 1), Each(10));

  GraphBuilder cached = RowsMapParameters(2);
  cached.Add("map", {0});
  cached.Step("Fill", {"value"}, {"below"}, Level());
  cached.Add("cache", {1});
  cached.Add("map", {2});
  cached.Step("Fill", {"value"}, {"above"}, Level());
  RunSpec spec = Reading(TenTimesEpoch());
  spec.first_epoch = 5;
  const Ran kept = RunEveryWay(cached, spec);
  EXPECT_THAT(kept.Ints(1, 6), Each(0));
  EXPECT_THAT(kept.Ints(2, 6), Each(60));
}

// An automatic cache may keep what comes before the first step that reads, and nothing after it.
TEST(MapParameters, AreReadAnewForRowsThatACacheKept) {
  GraphBuilder builder = RowsMapParameters(9);
  builder.Add("map", {0});
  builder.Step("TypeCast", {"value"}, {"value"}, {{"dtype", ir::StringValue("int64")}});
  builder.Step("Fill", {"value"}, {"level"}, Level());
  builder.Step("Fill", {"value"}, {"last"}, {{"value", IntValue(1)}});
  for (const int point : {0, 1, 99}) {
    RunSpec spec = Reading(TenTimesEpoch());
    spec.epochs = 3;
    spec.kept_point = point;
    const Ran ran = RunEveryWay(builder, spec);
    for (const uint64_t epoch : {0, 1, 2}) EXPECT_THAT(ran.Ints(1, epoch), Each(10 * epoch));
  }
}

TEST(MapParameters, StandForProbabilitiesOfChoosersAndReachTheirBranches) {
  GraphBuilder builder = RowsMapParameters(30);
  builder.Add("map", {0});
  builder.Step("RandomApply", {"value"}, {"value"}, {{"p", ReferenceValue("chance#0")}});
  builder.Branch().Step("Fill", {"value"}, {"value"}, Level()).End();
  RunSpec spec = Reading(std::make_shared<FakeParameter>(
      "level", [](uint64_t epoch) { return IntValue(-1 - static_cast<int64_t>(epoch)); }));
  spec.bindings.functions["chance#0"] = std::make_shared<FakeParameter>("chance", [](uint64_t epoch) {
    return FloatValue(epoch == 0 ? 0.0 : epoch == 1 ? 1.0 : 0.5);
  });
  spec.epochs = 3;
  const Ran ran = RunEveryWay(builder, spec);
  EXPECT_EQ(ran.Ints(0, 0)[29], 29);
  EXPECT_THAT(ran.Ints(0, 1), Each(-2));
  const std::vector<int64_t> some = ran.Ints(0, 2);
  const auto filled = std::count(some.begin(), some.end(), -3);
  EXPECT_GT(filled, 0);
  EXPECT_LT(filled, 30);
}

// Each row goes through one branch, whatever the weights, so that what all branches give is known.
TEST(MapParameters, StandForTheWeightsOfBranches) {
  GraphBuilder builder = RowsMapParameters(40);
  builder.Add("map", {0});
  builder.Step("RandomChoice", {"value"}, {"value"}, {{"p", ReferenceValue("weights#0")}});
  for (const int64_t filled : {-1, -2}) {
    builder.Branch().Step("TypeCast", {"value"}, {"value"}, {{"dtype", ir::StringValue("int32")}});
    builder.Step("Fill", {"value"}, {"value"}, {{"value", IntValue(filled)}}).End();
  }
  const auto weighted = [](std::vector<std::vector<double>> weights) {
    RunSpec spec;
    spec.bindings.functions["weights#0"] = std::make_shared<FakeParameter>(
        "weights", [weights](uint64_t epoch) { return FloatsValue(weights[std::min(epoch, weights.size() - 1)]); });
    return spec;
  };
  const absl::StatusOr<ir::Schema> schema = ir::ResultSchema(*builder.Build());
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(ir::TypeName(schema->Find("value")->type), "int32 ()");
  RunSpec spec = weighted({{0, 3}, {1, 0}, {1, 1}});
  spec.epochs = 3;
  const Ran ran = RunEveryWay(builder, spec);
  EXPECT_THAT(ran.Ints(0, 0), Each(-2));
  EXPECT_THAT(ran.Ints(0, 1), Each(-1));
  const std::vector<int64_t> both = ran.Ints(0, 2);
  EXPECT_EQ(std::count(both.begin(), both.end(), -1) + std::count(both.begin(), both.end(), -2), 40);
  EXPECT_GT(std::count(both.begin(), both.end(), -1), 5);
  EXPECT_GT(std::count(both.begin(), both.end(), -2), 5);

  EXPECT_THAT(Refusal(builder, weighted({{1, 2, 3}})),
              HasSubstr("p has 3 weights for 2 branches (in epoch 0 p is hr.parameter(\"weights\"), (1.0, 2.0, 3.0))"));
  EXPECT_THAT(Refusal(builder, weighted({{0, 0}})), HasSubstr("p needs a weight above 0"));
  EXPECT_THAT(Refusal(builder, weighted({{1, -1}})),
              HasSubstr("hr.parameter(\"weights\") in epoch 0: RandomChoice: p is (1.0, -1.0); it must be at least 0"));
}

TEST(MapParameters, AreNamedWhereARowFails) {
  GraphBuilder builder = RowsMapParameters(4);
  builder.Add("map", {0});
  builder.Step("RandomApply", {"value"}, {"value"}, {{"p", FloatValue(1)}});
  builder.Branch().Step("Fill", {"value"}, {"value"}, {{"value", IntValue(5)}}).End();
  builder.Step("OneHot", {"value"}, {"hot"}, {{"num_classes", ReferenceValue("level#0")}});
  RunSpec spec = Reading(std::make_shared<FakeParameter>(
      "level", [](uint64_t epoch) { return IntValue(6 - static_cast<int64_t>(epoch)); }));
  const Ran ran = RunEveryWay(builder, spec);
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
  EXPECT_THAT(std::string(ran.error.message()),
              HasSubstr("num_classes=5) (in epoch 1 num_classes is hr.parameter(\"level\"), 5)"));
  EXPECT_THAT(GetErrorField(ran.error, ErrorField::kOperator), HasSubstr("OneHot"));
}

TEST(MapParameters, DoNotSayHowManyKernelsASubpolicyHas) {
  GraphBuilder builder = RowsMapParameters(4);
  builder.Add("map", {0});
  builder.Step("RandomSelectSubpolicy", {"value"}, {"value"},
               {{"lengths", ReferenceValue("level#0")}, {"chances", FloatsValue({1})}});
  builder.Branch().Step("Fill", {"value"}, {"value"}, {{"value", IntValue(1)}}).End();
  EXPECT_THAT(Refusal(builder, Reading(TenTimesEpoch())), HasSubstr("is the same in each epoch"));
}

// Without a value there is no shape: rows of different epochs may differ.
TEST(MapParameters, LeaveShapesOpenThatDependOnThem) {
  GraphBuilder builder = RowsMapParameters(4);
  builder.Add("map", {0});
  builder.Step("OneHot", {"value"}, {"hot"}, {{"num_classes", ReferenceValue("level#0")}});
  RunSpec spec = Reading(std::make_shared<FakeParameter>(
      "level", [](uint64_t epoch) { return IntValue(4 + static_cast<int64_t>(epoch)); }));
  const Ran ran = RunEveryWay(builder, spec);
  EXPECT_EQ(ran.rows.front().columns[1].shape(), Shape({4}));
  EXPECT_EQ(ran.rows.back().columns[1].shape(), Shape({5}));
  const absl::StatusOr<ir::Schema> schema = ir::ResultSchema(*builder.Build());
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(ir::TypeName(schema->Find("hot")->type), "float32 (None,)");
}

// Small sizes all leave the row as it is.
TEST(MapParameters, LeaveShapesOpenThatLargeOnesChange) {
  GraphBuilder builder = RowsMapParameters(2);
  builder.Add("map", {0});
  builder.Step("OneHot", {"value"}, {"hot"}, {{"num_classes", IntValue(4)}});
  builder.Step("PadEnd", {"hot"}, {"hot"}, {{"shape", ReferenceValue("level#0")}});
  RunSpec spec = Reading(std::make_shared<FakeParameter>(
      "level", [](uint64_t epoch) { return IntValue(4 + static_cast<int64_t>(epoch)); }));
  const Ran ran = RunEveryWay(builder, spec);
  EXPECT_EQ(ran.rows.front().columns[1].shape(), Shape({4}));
  EXPECT_EQ(ran.rows.back().columns[1].shape(), Shape({5}));
}

TEST(MapParameters, AreCheckedAgainstTheBoundsOfTheirAttribute) {
  GraphBuilder builder = RowsMapParameters(4);
  builder.Add("map", {0});
  builder.Step("OneHot", {"value"}, {"hot"}, {{"num_classes", ReferenceValue("level#0")}});
  EXPECT_THAT(Refusal(builder, Reading(TenTimesEpoch())), HasSubstr("classes is 0; it must be at least 1"));
  EXPECT_THAT(Refusal(builder), HasSubstr("the parameter level#0 is not here"));

  GraphBuilder seeded = RowsMapParameters(4);
  seeded.Add("map", {0});
  seeded.Step("RandomApply", {"value"}, {"value"}, {{"seed", ReferenceValue("level#0")}});
  seeded.Branch().Step("Fill", {"value"}, {"value"}, {{"value", IntValue(1)}}).End();
  EXPECT_THAT(Refusal(seeded, Reading(TenTimesEpoch())), HasSubstr("a seed is the same in each epoch"));

  GraphBuilder batched = RowsMapParameters(4);
  batched.Add("batch", {0}, {{"size", ReferenceValue("level#0")}});
  EXPECT_THAT(Refusal(batched, Reading(TenTimesEpoch())), HasSubstr("it must be"));
}

// Runs a pipeline over endless epochs to the first row of epoch 2, and asks for no later one.
TEST(MapParameters, AreNotReadForEpochsThatNobodyAskedFor) {
  GraphBuilder builder = RowsMapParameters(3);
  builder.Add("map", {0});
  builder.Step("Fill", {"value"}, {"level"}, Level());
  for (const bool pull : {true, false}) {
    const std::shared_ptr<FakeParameter> parameter = TenTimesEpoch();
    PipelineOptions options = OptionsOf(Reading(parameter));
    options.bindings.functions["level#0"] = parameter;
    options.pull = pull;
    options.epochs = {0, 9};
    auto pipeline = Pipeline::Make(*builder.Build(), options);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    for (const uint64_t epoch : {0, 1}) {
      (*pipeline)->Ask(epoch);
      // Three rows, and the end of the epoch.
      for (int i = 0; i < 4; ++i) {
        ResultRow row;
        const auto next = (*pipeline)->Next(std::chrono::hours(1), row);
        ASSERT_TRUE(next.ok()) << next.status();
        EXPECT_EQ(*next, i < 3 ? Pipeline::Outcome::kRow : Pipeline::Outcome::kEpochEnd);
      }
    }
    EXPECT_THAT(parameter->read(), ElementsAre(0, 1));
  }
}

}  // namespace
}  // namespace headrace
