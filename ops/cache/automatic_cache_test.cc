// Tests automatic caches: at every cache point, rows are those of the plain run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/rounds.h"
#include "engine/plan/plan_text.h"
#include "engine/plan/planner.h"
#include "engine/report/explain.h"
#include "io/files/testing/temporary_folder.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ir/passes.h"
#include "ir/passes/group_rows.h"
#include "ir/passes/insert_caches.h"
#include "ops/testing/counted_rows.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/fixed_cache_point.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ir::StringValue;
using ::testing::HasSubstr;

// Between the cache points of tests that restart runs of many rows.
const int kPointsApart = static_cast<int>(OneIn({.quick = 3, .sanitized = 2}));
const uint64_t kChains = Rounds(25, {.quick = 4, .sanitized = 4});

// Three steps that give the same in each epoch, then one that draws, then one more.
void AddSteps(GraphBuilder& builder, uint32_t input) {
  builder.Add("test_counted", {input});
  builder.Add("map", {input + 1});
  builder.Step("TypeCast", {"value"}, {"half"}, {{"dtype", StringValue("float16")}});
  builder.Step("OneHot", {"value"}, {"hot"}, {{"num_classes", IntValue(5000)}});
  builder.Step("TypeCast", {"hot"}, {"hot"}, {{"dtype", StringValue("int8")}});
  builder.Step("PythonFunction", {"value"}, {"drawn"},
               {{"function", ir::ReferenceValue("noisy")}, {"random", ir::BoolValue(true)}});
  builder.Step("TypeCast", {"hot"}, {"hot"}, {{"dtype", StringValue("int16")}});
}

GraphBuilder Numbers(int64_t rows, bool shuffled = false) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", ir::BoolValue(shuffled)}});
  AddSteps(builder, 0);
  return builder;
}

// Rows below 15 of four passes, shuffled, all but the first three.
GraphBuilder DroppedAndRepeated() {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(20)}, {"shuffle", ir::BoolValue(true)}});
  builder.Add("repeat", {0}, {{"count", IntValue(4)}});
  const auto below_15 = ir::CallExpression("<", ir::ColumnExpression("value"), ir::LiteralExpression(IntValue(15)));
  builder.Add("filter", {1}, {{"predicate", ir::ExpressionValue(below_15)}});
  builder.Add("shuffle", {2}, {{"window", IntValue(6)}});
  builder.Add("skip", {3}, {{"count", IntValue(3)}});
  builder.Add("take", {4}, {{"count", IntValue(50)}});
  AddSteps(builder, 5);
  return builder;
}

RunSpec KeptAt(int point, uint64_t epochs = 3) {
  RunSpec spec;
  spec.epochs = epochs;
  spec.kept_point = point;
  spec.restart_every = 5;
  spec.bindings.functions["noisy"] = std::make_shared<FakeFunction>(
      [](absl::Span<const Tensor> inputs, RowRandom* random) -> absl::StatusOr<std::vector<Tensor>> {
        return std::vector{*Tensor::Scalar(static_cast<int64_t>(inputs[0].bytes() + random->Below(1000)))};
      });
  return spec;
}

int SeenIn(const GraphBuilder& builder, const RunSpec& spec) {
  counted_rows = 0;
  PipelineOptions options = OptionsOf(spec);
  const absl::StatusOr<Ran> ran = RunOnce(*ir::InsertCaches(*builder.Build()), std::move(options));
  EXPECT_TRUE(ran.ok() && ran->error.ok()) << ran.status();
  return counted_rows;
}

// What the plan says, where rows are not light.
std::string Planned(const ir::proto::Graph& graph, const PipelineOptions& options) {
  PhysicalPlan plan = *MakePlan(**PreparedGraph::Make(graph, options), options);
  for (PlannedCache& cache : plan.caches) cache.light = false;
  return PlanText(plan);
}

std::string Planned(const GraphBuilder& builder, uint64_t epochs) {
  return Planned(*ir::InsertCaches(*builder.Build()), OptionsOf(KeptAt(-1, epochs)));
}

TEST(AutomaticCache, GivesTheSameRowsFromEachPoint) {
  for (int point = 0; point <= 4; ++point) {
    const Ran ran = RunEveryWay(Numbers(8, point % 2 == 0), KeptAt(point));
    EXPECT_NE(ran.Texts(0), ran.Texts(1)) << "draws anew";
  }
}

TEST(AutomaticCache, MakesEachRowOnce) {
  for (int point = 0; point <= 3; ++point) {
    EXPECT_EQ(SeenIn(Numbers(30, true), KeptAt(point)), 30) << point;
  }
  EXPECT_EQ(SeenIn(Numbers(30), KeptAt(-1)), 90) << "rows are light";
}

TEST(AutomaticCache, KeepsNothingForOneEpoch) { EXPECT_EQ(SeenIn(Numbers(30), KeptAt(2, 1)), 30); }

TEST(AutomaticCache, KeepsRowsOverTheEpochsOfARepeat) {
  GraphBuilder builder = Numbers(20, true);
  builder.Add("repeat", {2}, {{"count", IntValue(3)}});
  EXPECT_EQ(SeenIn(builder, KeptAt(3, 1)), 20);
  RunEveryWay(builder, KeptAt(3, 2));
}

TEST(AutomaticCache, KeepsRowsThatAreDroppedAndRepeatedBelow) {
  EXPECT_EQ(SeenIn(DroppedAndRepeated(), KeptAt(-1, 1)), 50);
  for (int point = 0; point <= 3; point += kPointsApart) {
    EXPECT_EQ(SeenIn(DroppedAndRepeated(), KeptAt(point, 1)), 15) << point;
    const Ran ran = RunEveryWay(DroppedAndRepeated(), KeptAt(point, 2));
    EXPECT_EQ(ran.Texts(0).size(), 50u);
  }
  RunRanks(DroppedAndRepeated(), 2, KeptAt(2));
}

TEST(AutomaticCache, StaysOutOfGroupsAndOfFoldersBelowAWindow) {
  const TemporaryFolder folder;
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(20)}});
  builder.Add("shuffle", {0}, {{"window", IntValue(6)}});
  builder.Add("map", {1});
  builder.Step("TypeCast", {"value"}, {"value"}, {{"dtype", StringValue("float32")}});
  const ir::proto::Graph graph = *ir::GroupRows(*ir::InsertCaches(*builder.Build()));
  PipelineOptions grouped = OptionsOf(KeptAt(1, 2));
  PipelineOptions in_folder = grouped;
  grouped.group = 3;
  in_folder.cache_folder = folder.path();
  for (auto& [options, why] : {std::pair(&grouped, "as iterate(group=…) sends rows together"),
                               std::pair(&in_folder, "in memory, not in the folder, as a shuffle below would hold")}) {
    EXPECT_THAT(Planned(graph, *options), HasSubstr(why));
    options->epochs = {0, 0};
  }
  EXPECT_THAT(Planned(graph, in_folder),
              HasSubstr("as only one epoch is run, and the folder is left alone, as a shuffle below"));
}

TEST(AutomaticCache, FindsTheLastRowOfATakeInAWindow) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(12)}});
  builder.Add("repeat", {0}, {{"count", IntValue(4)}});
  builder.Add("take", {1}, {{"count", IntValue(40)}});
  builder.Add("shuffle", {2}, {{"window", IntValue(6)}});
  AddSteps(builder, 3);
  for (int point = 0; point <= 3; point += kPointsApart) {
    EXPECT_EQ(SeenIn(builder, KeptAt(point, 2)), 12) << point;
    RunEveryWay(builder, KeptAt(point, 2));
  }
}

uint64_t RowsPlannedFor(bool shuffled, ShardAssignment shard) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(24)}, {"shuffle", ir::BoolValue(shuffled)}});
  builder.Add("shuffle", {0}, {{"window", IntValue(3)}});
  builder.Add("take", {1}, {{"count", IntValue(10)}});
  AddSteps(builder, 2);
  PipelineOptions options = OptionsOf(KeptAt(1, 2));
  options.shard = shard;
  return (*Pipeline::Make(*ir::InsertCaches(*builder.Build()), options))->report().caches.at(0).rows;
}

TEST(AutomaticCache, PlansForTheRowsThatCome) {
  EXPECT_EQ(RowsPlannedFor(false, {}), 10u);
  EXPECT_EQ(RowsPlannedFor(false, {.rank = 1, .world = 4}), 6u) << "a rank's own part";
  EXPECT_EQ(RowsPlannedFor(true, {}), 24u) << "others in each epoch";
}

TEST(AutomaticCache, MeetsNoRowOfOnePassTwice) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(20)}});
  builder.Add("repeat", {0}, {{"count", IntValue(9)}});
  builder.Add("take", {1}, {{"count", IntValue(20)}});
  AddSteps(builder, 2);
  EXPECT_THAT(Planned(builder, 1), HasSubstr("as only one epoch is run"));
  EXPECT_THAT(Planned(builder, 2), HasSubstr("automatic cache in map[4]: if the first rows show"));
}

TEST(AutomaticCache, MakesAnewWhatDoesNotFit) {
  const GraphBuilder builder = Numbers(200, true);
  PipelineOptions options = OptionsOf(KeptAt(3));
  options.memory = 1'000'000;
  counted_rows = 0;
  const absl::StatusOr<Ran> ran = RunOnce(*ir::InsertCaches(*builder.Build()), options);
  ASSERT_TRUE(ran.ok() && ran->error.ok()) << ran.status();
  EXPECT_GT(counted_rows, 250);
  EXPECT_LT(counted_rows, 550);
}

// What a shuffle holds must fit whatever was kept before.
TEST(AutomaticCache, MakesRoomForAnOperator) {
  GraphBuilder builder = Numbers(200);
  builder.Add("shuffle", {2}, {{"window", IntValue(60)}});
  PipelineOptions options = OptionsOf(KeptAt(3));
  options.memory = 1'500'000;
  const auto pipeline = *Pipeline::Make(*ir::InsertCaches(*builder.Build()), options);
  pipeline->Ask(2);
  ResultRow row;
  int given = 0;
  while (pipeline->position().epoch <= 2) {
    const absl::StatusOr<Pipeline::Outcome> outcome = pipeline->Next(std::chrono::seconds(60), row);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    given += *outcome == Pipeline::Outcome::kRow ? 1 : 0;
  }
  EXPECT_EQ(given, 600);
  const CacheReport kept = pipeline->report().caches.at(0);
  EXPECT_LT(kept.memory_limit, options.memory / 2 * 9 / 10);
  EXPECT_GT(kept.memory_bytes, 0);
  EXPECT_LE(kept.memory_bytes, kept.memory_limit);
}

TEST(AutomaticCache, GivesRanksTheirRows) {
  RunRanks(Numbers(21, true), 2, KeptAt(2));
  RunSpec padded = KeptAt(3);
  padded.shard = {.rank = 1, .world = 4, .even = ShardAssignment::Even::kPad};
  RunEveryWay(Numbers(21), padded);
}

TEST(AutomaticCache, NamesTheErrorThatThePlainRunNames) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(12)}});
  builder.Add("map", {0});
  builder.Step("TypeCast", {"value"}, {"copy"}, {{"dtype", StringValue("int32")}});
  builder.Step("OneHot", {"value"}, {"hot"}, {{"num_classes", IntValue(9)}});
  builder.Add("batch", {1}, {{"size", IntValue(2)}});
  for (int point = 0; point <= 2; ++point) {
    const Ran ran = RunEveryWay(builder, KeptAt(point));
    EXPECT_EQ(GetErrorField(ran.error, ErrorField::kOperator), "map[1] OneHot");
    EXPECT_THAT(GetErrorField(ran.error, ErrorField::kRow), HasSubstr("key 9"));
  }
}

TEST(AutomaticCache, LastsInAFolder) {
  const TemporaryFolder folder;
  const GraphBuilder builder = Numbers(30, true);
  const ir::proto::Graph graph = *ir::InsertCaches(*builder.Build());
  const auto run = [&](int point, uint64_t epoch) {
    PipelineOptions options = OptionsOf(KeptAt(point));
    options.epochs = {epoch, epoch};
    options.cache_folder = folder.path();
    counted_rows = 0;
    const absl::StatusOr<Ran> ran = RunOnce(graph, options);
    EXPECT_TRUE(ran.ok() && ran->error.ok()) << ran.status();
    return ran->Texts(epoch);
  };
  run(1, 0);
  EXPECT_EQ(counted_rows, 30);
  PipelineOptions plain = OptionsOf(KeptAt(-1));
  const absl::StatusOr<Ran> expected = RunOnce(*builder.Build(), plain);
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(run(3, 1), expected->Texts(1)) << "whatever the point now";
  EXPECT_EQ(counted_rows, 0);
}

TEST(AutomaticCache, IsExplained) {
  EXPECT_THAT(Planned(Numbers(5), 2), HasSubstr("automatic cache in map[2]: if the first rows show"));
  EXPECT_THAT(Planned(Numbers(5), 1), HasSubstr("map[2]: no automatic cache, as only one epoch is run"));
  IterateOptions endless;
  endless.endless = true;
  endless.bindings = KeptAt(-1).bindings;
  EXPECT_THAT(ExplainGraph(*Numbers(5).Build(), endless, /*passes=*/false).value(),
              testing::Not(HasSubstr("automatic cache")))
      << "light rows";
}

// Images through random chains of vision kernels.
class Images : public ::testing::Test {
 protected:
  Images() {
    int number = 0;
    std::filesystem::create_directories(folder_ / "animals");
    for (const auto& entry : std::filesystem::recursive_directory_iterator("examples/photos")) {
      if (entry.path().extension() != ".jpg" || number == 5) continue;
      std::filesystem::copy_file(entry.path(), folder_ / Cat("animals/", number++, ".jpg"));
    }
    // What a whole decode finds, and one of a part may not.
    std::ifstream whole(folder_ / "animals/0.jpg", std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(whole)), std::istreambuf_iterator<char>());
    damaged_ = bytes.substr(0, bytes.size() * 9 / 10);
  }

  GraphBuilder Chain(std::mt19937_64& random) const {
    const auto below = [&](uint64_t bound) { return random() % bound; };
    GraphBuilder builder;
    builder.Add("ImageFolder", {}, {{"root", StringValue(folder_.path())}});
    builder.Add("map", {0});
    const auto step = [&](std::string_view kernel, const GraphBuilder::Given& given = {}) {
      builder.Step(kernel, {"image"}, {"image"}, given);
    };
    step("Decode");
    if (below(2) == 0) step("Resize", {{"size", ir::IntsValue({70, 90})}, {"antialias", ir::BoolValue(below(2) == 0)}});
    if (below(3) == 0) builder.Step("OneHot", {"label"}, {"hot"}, {{"num_classes", IntValue(3)}});
    if (below(2) == 0) step("CenterCrop", {{"size", ir::IntsValue({60, 64})}});
    if (below(2) == 0) step("RandomCrop", {{"size", ir::IntsValue({40, 44})}});
    if (below(2) == 0) step("RandomHorizontalFlip");
    if (below(2) == 0) step("Resize", {{"size", ir::IntsValue({20, 30})}});
    if (below(2) == 0) step("Rescale", {{"scale", ir::FloatValue(1 / 255.0)}});
    if (below(2) == 0) {
      step("Normalize", {{"mean", ir::FloatsValue({0.4, 0.5, 0.6})}, {"std", ir::FloatsValue({0.1, 0.2, 0.3})}});
    }
    if (below(2) == 0) step("HWC2CHW");
    if (below(2) == 0) builder.Add("batch", {1}, {{"size", IntValue(1 + static_cast<int64_t>(below(2)))}});
    return builder;
  }

  TemporaryFolder folder_;
  std::string damaged_;
};

TEST_F(Images, AreTheSameFromEachPoint) {
  int runs = 0;
  for (uint64_t seed = 0; seed < kChains; ++seed) {
    std::mt19937_64 random(seed);
    const GraphBuilder builder = Chain(random);
    if (seed == kChains / 2) folder_.Write("animals/7.jpg", damaged_);
    const ir::proto::Graph plain = *builder.Build();
    const ir::proto::Graph optimized = ir::Optimize(plain)->graph;
    PipelineOptions options = OptionsOf(KeptAt(-1));
    const absl::StatusOr<Ran> expected = RunOnce(optimized, options);
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (int point = 0; point <= 9; point += 1 + static_cast<int>(random() % 2)) {
      SCOPED_TRACE(Cat("seed ", seed, ", point ", point));
      options.choose_cache_point = FixedCachePoint(point);
      options.pull = random() % 2 == 0;
      const absl::StatusOr<Ran> ran = RunOnce(optimized, options);
      ASSERT_TRUE(ran.ok()) << ran.status();
      ASSERT_EQ(ran->rows.size(), expected->rows.size());
      for (size_t i = 0; i < ran->rows.size(); ++i) ASSERT_EQ(ran->rows[i].text, expected->rows[i].text);
      ASSERT_EQ(DescribeError(ran->error), DescribeError(expected->error));
      ++runs;
    }
  }
  std::printf("HEADRACE-COUNT fuzz=%d\nHEADRACE-COUNT variants=%d\n", static_cast<int>(kChains), runs);
}

// If no cached row replaces them, the user may write to them.
TEST_F(Images, AreTheUsersOwn) {
  GraphBuilder builder;
  builder.Add("ImageFolder", {}, {{"root", StringValue(folder_.path())}});
  builder.Add("map", {0});
  builder.Step("Decode", {"image"}, {"image"});
  builder.Step("CenterCrop", {"image"}, {"image"}, {{"size", ir::IntsValue({8, 8})}});
  for (int point = 0; point <= 2; ++point) {
    const absl::StatusOr<Ran> ran = RunOnce(*ir::InsertCaches(*builder.Build()), OptionsOf(KeptAt(point, 2)));
    ASSERT_TRUE(ran.ok() && ran->rows.size() == 10) << ran.status();
    for (const RanRow& row : ran->rows) {
      EXPECT_TRUE(row.columns[0].buffer().unique()) << point;
    }
  }
}

// The user's cache may keep rows by key, or messages in order: what is made below is not kept a second time.
TEST_F(Images, AreKeptInTheUsersCacheAlone) {
  const auto planned = [&](const std::vector<std::string_view>& operators) {
    GraphBuilder builder;
    builder.Add("ImageFolder", {}, {{"root", StringValue(folder_.path())}});
    for (uint32_t input = 0; input < operators.size(); ++input) {
      const std::string_view op = operators[input];
      GraphBuilder::Given given;
      if (op == "batch") given = {{"size", IntValue(2)}};
      if (op == "shuffle") given = {{"window", IntValue(3)}};
      builder.Add(op, {input}, given);
      if (op != "map") continue;
      builder.Step("Decode", {"image"}, {"image"});
      builder.Step("CenterCrop", {"image"}, {"image"}, {{"size", ir::IntsValue({8, 8})}});
    }
    return Planned(builder, 2);
  };
  const auto notes_of = [](int map, int cache) {
    const std::string why = Cat("map[", map, "]: no automatic cache, as cache[", cache, "] keeps its rows; notes of");
    return testing::AllOf(HasSubstr(why), testing::Not(HasSubstr("automatic cache in")));
  };
  EXPECT_THAT(planned({"map", "batch", "cache"}), notes_of(1, 3));
  EXPECT_THAT(planned({"map", "shuffle", "cache"}), notes_of(1, 3));
  EXPECT_THAT(planned({"map", "cache", "batch"}), notes_of(1, 2));
  EXPECT_THAT(planned({"map", "cache", "batch", "cache"}), notes_of(1, 2));
  EXPECT_THAT(planned({"cache", "map", "batch"}), notes_of(2, 1));
  EXPECT_THAT(planned({"cache", "map", "batch", "cache"}), notes_of(2, 4));
  EXPECT_THAT(planned({"map", "batch"}), HasSubstr("automatic cache in map[1]"));
}

TEST_F(Images, AreKeptBesideTheUsersCacheOfAnotherInput) {
  GraphBuilder builder;
  const auto add_branch = [&](uint32_t source) {
    builder.Add("ImageFolder", {}, {{"root", StringValue(folder_.path())}});
    builder.Add("map", {source});
    builder.Step("Decode", {"image"}, {"image"});
    builder.Step("CenterCrop", {"image"}, {"image"}, {{"size", ir::IntsValue({8, 8})}});
    builder.Add("batch", {source + 1}, {{"size", IntValue(2)}});
  };
  add_branch(0);
  builder.Add("cache", {2});
  add_branch(4);
  builder.Add("concat", {3, 6});
  const std::string plan = Planned(builder, 2);
  EXPECT_THAT(plan, HasSubstr("map[1]: no automatic cache, as cache[3] keeps its rows"));
  EXPECT_THAT(plan, HasSubstr("automatic cache in map[5]"));
}

}  // namespace
}  // namespace headrace
