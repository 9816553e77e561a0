// Random pipelines with every pass of the optimizer, with none, and with each alone: the same rows with the same
// identities, the same errors where all work is needed, the same refusals of shards, and states that go on under other
// passes than they were taken with.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>

#include "core/error.h"
#include "core/testing/patience.h"
#include "core/testing/rounds.h"
#include "core/text.h"
#include "engine/exec/iteration.h"
#include "ir/canonical.h"
#include "ir/dump.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ir/passes.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/fixed_cache_point.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using Names = std::vector<std::string>;

const uint64_t kRandomPassesGraphs = Rounds(1500, {.quick = 150, .sanitized = 60, .long_run = 5000});
// One in so many is begun at other rows, too.
const uint64_t kBegunGraphs = Rounds(5, {.quick = 2, .sanitized = 1});

// Columns of numbers, of which `value` or what it was renamed to is int64; `hot` ones are vectors.
class RandomPipeline {
 public:
  explicit RandomPipeline(uint64_t seed, bool skips = false) : random_(seed), skips_(skips) {
    fails_ = skips_ || Below(4) == 0;
    if (skips_) builder_.SkipFailed(Below(4) == 0 ? 3 : 1000);
    at_ = Source();
    columns_ = {"value"};
    for (int64_t left = 2 + Below(8); left > 0; --left) Extend();
    if (Below(5) == 0) Join();
    if (Below(3) == 0) Add("batch", {{"size", IntValue(1 + Below(4))}});
    if (Below(4) == 0 && Below(2) == 0) Add("take", {{"count", IntValue(Below(9))}});
  }

  const ir::proto::Graph& graph() const { return builder_.raw(); }
  // The errors of dropped rows may disappear, which moves the rows of a shuffle.
  bool may_hide_errors() const { return hides_ && !skips_; }
  bool reorders_after_failure() const { return reorders_after_failure_; }
  // May be always true, so that more is known of the rows where it is gone.
  bool may_lose_a_filter() const { return constant_filter_ && !skips_; }

 private:
  int64_t Below(int64_t bound) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound)); }
  const std::string& Any(const Names& names) {
    return names[static_cast<size_t>(Below(static_cast<int64_t>(names.size())))];
  }
  std::string Fresh() { return Cat("c", ++fresh_); }
  void Add(std::string_view op, const GraphBuilder::Given& attributes = {}) {
    at_ = builder_.Add(op, {at_}, attributes);
  }

  bool IsNumber(const std::string& name) const { return !name.starts_with("hot"); }
  Names Numbers() const {
    Names numbers;
    std::copy_if(columns_.begin(), columns_.end(), std::back_inserter(numbers),
                 [this](auto& n) { return IsNumber(n); });
    return numbers;
  }

  uint32_t Source() {
    if (Below(4) == 0) {
      return builder_.Add("Generator", {},
                          {{"function", ir::ReferenceValue("rows")},
                           {"columns", ir::ColumnsValue({{{"value", ir::ColumnType::Of(DType::kInt64, {})}}})}});
    }
    const int64_t start = Below(3);
    const int64_t rows = Below(5) == 0 ? Below(3) : 6 + Below(20);
    uint32_t at = builder_.Add(
        "Range", {},
        {{"start", IntValue(start)}, {"stop", IntValue(start + rows)}, {"shuffle", ir::BoolValue(Below(2) == 0)}});
    if (rows > 0 && Below(4) == 0) at = Selected(at, rows);
    if (Below(3) == 0)
      at = builder_.Add(Below(2) == 0 ? "take" : "skip", {at}, {{"count", IntValue(Below(2) * Below(30))}});
    return at;
  }

  uint32_t Selected(uint32_t at, int64_t rows) {
    std::vector<int64_t> chosen;
    for (int64_t left = Below(20); left > 0; --left) chosen.push_back(Below(rows));
    return builder_.Add("select", {at}, {{"indices", ir::IntsValue(chosen)}});
  }

  void Extend() {
    switch (Below(13)) {
      case 0:
      case 1:
      case 2:
        return Map();
      case 3:
        return Add("take", {{"count", IntValue(Below(30))}});
      case 4:
        hides_ |= failing_;
        return Add("skip", {{"count", IntValue(Below(2) * Below(6))}});
      case 5:
      case 6:
        reorders_after_failure_ |= failing_;
        return Add("shuffle", {{"window", IntValue(1 + Below(9))}});
      case 7:
        return Filter();
      case 8:
        return Project();
      case 9:
        return Rename();
      case 10:
        return Below(2) == 0 ? Add("repeat", {{"count", IntValue(1 + Below(2))}}) : Function();
      case 11:
        return Add("test_group", {{"rows", IntValue(1 + Below(3))}});
      default:
        Add("batch", {{"size", IntValue(1 + Below(4))}});
        return Add("unbatch");
    }
  }

  void Map() {
    Add("map");
    for (int64_t steps = 1 + Below(3); steps > 0; --steps) Step();
  }

  void Step() {
    const std::string from = Any(Numbers());
    const auto cast = [&](const std::string& to, std::string_view dtype) {
      builder_.Step("TypeCast", {from}, {to}, {{"dtype", ir::StringValue(dtype)}});
    };
    switch (Below(5)) {
      case 0:
        return cast(from, "int64");
      case 1:
        return cast(from, "float64");
      case 2:
        return (void)columns_.push_back(Fresh()), cast(columns_.back(), "int32");
      case 3:
        return (void)builder_.Step("Fill", {from}, {from}, {{"value", ir::FloatValue(3)}});
      default:
        return OneHot();
    }
  }

  void OneHot() {
    const std::string whole = Fresh();
    builder_.Step("TypeCast", {Any(Numbers())}, {whole}, {{"dtype", ir::StringValue("int16")}});
    columns_.push_back(whole);
    const std::string hot = Cat("hot", ++fresh_);
    columns_.push_back(hot);
    failing_ |= fails_;
    builder_.Step("OneHot", {whole}, {hot}, {{"num_classes", IntValue(fails_ ? 8 : 5000)}});
  }

  // A function, often between kernels.
  void Function() {
    Add("map");
    for (int64_t steps = Below(3); steps > 0; --steps) Step();
    Call();
    for (int64_t steps = Below(3); steps > 0; --steps) Step();
    if (Below(3) == 0) Call();
  }

  void Call() {
    const std::string name = Any(Numbers());
    builder_.Step("PythonFunction", {name}, {name},
                  {{"function", ir::ReferenceValue("noisy")},
                   {"random", ir::BoolValue(true)},
                   {"ordered", ir::BoolValue(Below(2) == 0)},
                   {"types", ir::ColumnsValue({{{"x", ir::ColumnType::Of(DType::kInt64, {})}}})}});
  }

  void Filter() {
    hides_ |= failing_;
    const auto literal = [](int64_t value) { return ir::LiteralExpression(IntValue(value)); };
    const auto truth = [](bool value) { return ir::LiteralExpression(ir::BoolValue(value)); };
    ir::proto::Expression column = ir::ColumnExpression(Any(Numbers()));
    const bool divides = Below(3) == 0;
    if (divides) column = ir::CallExpression("%", std::move(column), literal(2 + Below(3)));
    auto bound = ir::CallExpression("-", literal(Below(20)), ir::CallExpression("*", literal(2), literal(Below(3))));
    auto predicate = ir::CallExpression(divides ? "!=" : "<=", std::move(column), std::move(bound));
    if (Below(3) == 0) predicate = ir::CallExpression("and", truth(true), std::move(predicate));
    const int64_t constant = Below(12);
    if (constant < 3) predicate = ir::CallExpression("or", std::move(predicate), truth(constant == 0));
    if (constant == 3) predicate = ir::CallExpression("<", literal(1), literal(2));
    constant_filter_ |= constant == 0 || constant == 3;
    Add("filter", {{"predicate", ir::ExpressionValue(std::move(predicate))}});
  }

  void Project() {
    hides_ |= failing_;  // drops the column of the failing step, perhaps
    std::shuffle(columns_.begin(), columns_.end(), random_);
    Names kept(columns_.begin(), columns_.begin() + 1 + Below(static_cast<int64_t>(columns_.size())));
    if (std::none_of(kept.begin(), kept.end(), [this](auto& n) { return IsNumber(n); })) kept.push_back(Numbers()[0]);
    columns_ = kept;
    Add("project", {{"columns", ir::StringsValue(columns_)}});
  }

  void Rename() {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (std::string& name : columns_) {
      if (Below(2) == 0) continue;
      const std::string renamed = Below(5) == 0 ? name : IsNumber(name) ? Fresh() : Cat("hot", ++fresh_);
      pairs.emplace_back(name, renamed);
      name = renamed;
    }
    Add("rename", {{"mapping", ir::PairsValue(pairs)}});
  }

  // With itself under other names, or another source: both sides are of the same kind where there are shards.
  void Join() {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string& name : columns_) pairs.emplace_back(name, IsNumber(name) ? Fresh() : Cat("hot", ++fresh_));
    const uint32_t other = builder_.Add("rename", {at_}, {{"mapping", ir::PairsValue(pairs)}});
    at_ = builder_.Add("zip", {at_, other});
    for (const auto& pair : pairs) columns_.push_back(pair.second);
    hides_ |= failing_;  // of one side, after the end of the other
    if (Below(2) == 0) Project();
  }

  std::mt19937_64 random_;
  GraphBuilder builder_;
  Names columns_;
  uint32_t at_ = 0;
  int fresh_ = 0;
  const bool skips_;      // rows that fail
  bool fails_ = false;    // steps may fail
  bool failing_ = false;  // one does
  bool hides_ = false;
  bool reorders_after_failure_ = false;
  bool constant_filter_ = false;
};

HostBindings Bindings() {
  HostBindings bindings;
  bindings.functions["noisy"] = std::make_shared<FakeFunction>(
      [](absl::Span<const Tensor> inputs, RowRandom* random) -> absl::StatusOr<std::vector<Tensor>> {
        return std::vector{*Tensor::Scalar(static_cast<int64_t>(inputs[0].bytes() + random->Below(20)))};
      });
  BindIterator(bindings, "rows", [](uint64_t epoch, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
    if (i >= 15 + epoch) return std::vector<Tensor>();
    return std::vector<Tensor>{*Tensor::Scalar(static_cast<int64_t>(i * 7 % 23))};
  });
  return bindings;
}

IterateOptions Options() {
  IterateOptions options;
  options.seed = 5;
  options.epoch = 1;
  options.pull = true;
  options.bindings = Bindings();
  return options;
}

struct Result {
  std::string refused;
  std::vector<std::string> rows;
  std::vector<std::string> states;  // before each row, and at the end
  std::string error;
};

constexpr uint64_t kMoreEpochs = 2;  // of an endless run

Result RunWith(const ir::proto::Graph& graph, const IterateOptions& options, bool states = false) {
  Result result;
  absl::StatusOr<std::unique_ptr<Iteration>> iteration = Iteration::Start(graph, options);
  if (!iteration.ok()) {
    result.refused = DescribeError(iteration.status());
    return result;
  }
  const uint64_t last = options.epoch + (options.endless ? kMoreEpochs : 0);
  (*iteration)->Ask(last);
  while (true) {
    if (states) result.states.push_back(*(*iteration)->State());
    ResultRow row;
    const absl::StatusOr<Pipeline::Outcome> outcome = (*iteration)->Fetch(kTestPatience, row);
    if (!outcome.ok()) {
      result.error = DescribeError(outcome.status());
      return result;
    }
    (*iteration)->Given();
    if (*outcome == Pipeline::Outcome::kEpochEnd && (*iteration)->epoch() <= last) {
      result.rows.push_back("epoch");
      continue;
    }
    if (*outcome != Pipeline::Outcome::kRow) return result;
    result.rows.push_back(
        Cat(row.id.epoch, " ", row.id.key, row.id.pad ? " pad " : " ", RowText((*iteration)->schema(), row.columns)));
  }
}

std::vector<std::string> AllBut(const std::string& name) {
  std::vector<std::string> names;
  for (const ir::Pass& pass : ir::AllPasses()) {
    if (pass.name != name) names.push_back(pass.name);
  }
  return names;
}

class Comparison {
 public:
  Comparison(const RandomPipeline& pipeline, IterateOptions options)
      : pipeline_(pipeline), options_(std::move(options)) {
    options_.optimize = false;
    reference_ = RunWith(pipeline.graph(), options_);
    options_.optimize = true;
  }

  const Result& reference() const { return reference_; }
  int runs() const { return runs_; }

  void WithEachPass() {
    Check(options_, "all passes");
    for (const ir::Pass& pass : ir::AllPasses()) {
      IterateOptions alone = options_;
      alone.disabled_passes = AllBut(pass.name);
      Check(alone, Cat(pass.name, " alone"));
    }
  }

  void Threaded() {
    IterateOptions threaded = options_;
    threaded.pull = false;
    Check(threaded, "all passes, threads");
  }

  // Over several epochs, with automatic caches.
  void Kept(int point) {
    options_.endless = true;
    options_.optimize = false;
    reference_ = RunWith(pipeline_.graph(), options_);
    options_.optimize = true;
    options_.choose_cache_point = FixedCachePoint(point);
    Check(options_, Cat("rows kept at point ", point));
    IterateOptions alone = options_;
    alone.disabled_passes = AllBut("insert_caches");
    Check(alone, Cat("rows kept at point ", point, " with no other pass"));
    Threaded();
  }

  // From a row on, unless rows before it have to be made to know which come next.
  void BegunAt() {
    if (!reference_.refused.empty() || !reference_.error.empty()) return;
    const size_t size = reference_.rows.size();
    for (const size_t start : {size_t{0}, size_t{1}, size / 2, size, size + 3}) {
      IterateOptions begin = options_;
      begin.start = start;
      const Result rest = RunWith(pipeline_.graph(), begin);
      if (!rest.refused.empty()) {
        const bool known = rest.refused.find("cannot be found by their numbers") != std::string::npos ||
                           rest.refused.find("within a group") != std::string::npos;
        EXPECT_TRUE(known) << rest.refused;
        continue;
      }
      ++runs_;
      begun_ += start > 0 ? 1 : 0;
      const auto at = static_cast<std::ptrdiff_t>(std::min(start, size));
      const std::vector<std::string> expected(reference_.rows.begin() + at, reference_.rows.end());
      EXPECT_EQ(rest.rows, expected) << "from row " << start;
      EXPECT_EQ(rest.error, "");
    }
  }
  int begun() const { return begun_; }

  // States of either serve the other.
  void Restored() {
    if (!reference_.refused.empty() || !reference_.error.empty()) return;
    for (const bool taken_optimized : {false, true}) {
      IterateOptions take = options_;
      take.optimize = taken_optimized;
      const Result taken = RunWith(pipeline_.graph(), take, true);
      for (size_t i = 0; i < taken.states.size(); i += 1 + taken.states.size() / 4) {
        IterateOptions go_on = options_;
        go_on.optimize = !taken_optimized;
        go_on.state = taken.states[i];
        const Result rest = RunWith(pipeline_.graph(), go_on);
        ++runs_;
        const std::vector<std::string> expected(reference_.rows.begin() + static_cast<std::ptrdiff_t>(i),
                                                reference_.rows.end());
        EXPECT_EQ(rest.refused, "");
        EXPECT_EQ(rest.rows, expected) << "from row " << i << ", taken " << (taken_optimized ? "with" : "without")
                                       << " passes";
      }
    }
  }

 private:
  void Check(const IterateOptions& options, const std::string& how) {
    const Result result = RunWith(pipeline_.graph(), options);
    ++runs_;
    if (!reference_.refused.empty()) {
      // Another operator on the same indices may be named.
      const auto reason = [](const std::string& text) { return text.substr(0, text.find('\n')); };
      EXPECT_TRUE(pipeline_.may_lose_a_filter() || reason(result.refused) == reason(reference_.refused))
          << how << ": " << result.refused << "\nnot\n"
          << reference_.refused;
      return;
    }
    EXPECT_EQ(result.refused, "") << how;
    if (reference_.error.empty() || !pipeline_.may_hide_errors()) {
      EXPECT_EQ(result.rows, reference_.rows) << how;
      EXPECT_EQ(result.error, reference_.error) << how;
      return;
    }
    // An error of unused rows may be gone, and then the rows after it come.
    if (pipeline_.reorders_after_failure()) return;
    ASSERT_GE(result.rows.size(), reference_.rows.size()) << how;
    const auto end = result.rows.begin() + static_cast<std::ptrdiff_t>(reference_.rows.size());
    EXPECT_EQ(std::vector<std::string>(result.rows.begin(), end), reference_.rows) << how;
  }

  const RandomPipeline& pipeline_;
  IterateOptions options_;
  Result reference_;
  int runs_ = 0;
  int begun_ = 0;  // from another row than the first
};

TEST(RandomPasses, GiveTheSameRows) {
  int runs = 0;
  int begun = 0;
  for (uint64_t seed = 0; seed < kRandomPassesGraphs; ++seed) {
    const RandomPipeline pipeline(seed);
    SCOPED_TRACE(Cat("seed ", seed, "\n", ir::GraphDump(pipeline.graph())));
    Comparison whole(pipeline, Options());
    ASSERT_EQ(whole.reference().refused, "");
    whole.WithEachPass();
    if (seed % 4 == 0) whole.Threaded();
    if (seed % 4 == 1) whole.Restored();
    if (seed % kBegunGraphs == kBegunGraphs / 2) whole.BegunAt();
    runs += whole.runs();
    begun += whole.begun();
    if (HasFailure()) return;
  }
  EXPECT_GT(begun, 0);
  std::printf("HEADRACE-COUNT fuzz=%d\nHEADRACE-COUNT variants=%d\n", static_cast<int>(kRandomPassesGraphs), runs);
}

TEST(RandomPasses, GiveTheSameRowsIfThoseThatFailAreSkipped) {
  int runs = 0;
  int ran = 0;
  int failed = 0;
  for (uint64_t seed = 0; seed < kRandomPassesGraphs; ++seed) {
    const RandomPipeline pipeline(seed + 3000000, true);
    SCOPED_TRACE(Cat("seed ", seed + 3000000, "\n", ir::GraphDump(pipeline.graph())));
    IterateOptions options = Options();
    options.world = 1 + seed % 2;
    Comparison whole(pipeline, options);
    ran += whole.reference().refused.empty() ? 1 : 0;
    failed += whole.reference().error.empty() ? 0 : 1;
    whole.WithEachPass();
    if (seed % 4 == 0) whole.Threaded();
    if (seed % 4 == 1) whole.Restored();
    if (seed % 4 == 2 && whole.reference().refused.empty()) whole.Kept(static_cast<int>(seed / 4 % 3));
    runs += whole.runs();
    if (HasFailure()) return;
  }
  EXPECT_GT(ran, static_cast<int>(kRandomPassesGraphs) / 2);
  EXPECT_LT(failed, ran / 2);
  std::printf("HEADRACE-COUNT fuzz=%d\nHEADRACE-COUNT variants=%d\n", static_cast<int>(kRandomPassesGraphs), runs);
}

TEST(RandomPasses, ShardTheSameRows) {
  int runs = 0;
  int sharded = 0;
  for (uint64_t seed = 0; seed < kRandomPassesGraphs / 2; ++seed) {
    const RandomPipeline pipeline(seed + 1000000);
    SCOPED_TRACE(Cat("seed ", seed + 1000000, "\n", ir::GraphDump(pipeline.graph())));
    IterateOptions options = Options();
    options.rank = seed % 2;
    options.world = 2 + seed % 2;
    options.even = seed % 3 == 0 ? "off" : seed % 3 == 1 ? "drop" : "pad";
    Comparison shard(pipeline, options);
    sharded += shard.reference().refused.empty() ? 1 : 0;
    shard.WithEachPass();
    if (seed % 4 == 0) shard.Threaded();
    if (seed % 4 == 1) shard.Restored();
    if (seed % 5 == 2) shard.BegunAt();
    runs += shard.runs();
    if (HasFailure()) return;
  }
  EXPECT_GT(sharded, static_cast<int>(kRandomPassesGraphs) / 8);
  std::printf("HEADRACE-COUNT fuzz=%d\nHEADRACE-COUNT variants=%d\n", static_cast<int>(kRandomPassesGraphs / 2), runs);
}

TEST(RandomPasses, GiveTheSameRowsWhereSomeAreKept) {
  int runs = 0;
  for (uint64_t seed = 0; seed < kRandomPassesGraphs / 5; ++seed) {
    const RandomPipeline pipeline(seed + 2000000);
    SCOPED_TRACE(Cat("seed ", seed + 2000000, "\n", ir::GraphDump(pipeline.graph())));
    IterateOptions options = Options();
    options.world = 1 + seed % 3 / 2;
    Comparison kept(pipeline, options);
    if (!kept.reference().refused.empty()) continue;
    kept.Kept(seed % 2 == 0 ? 9 : static_cast<int>(seed / 2 % 3));
    runs += kept.runs();
    if (HasFailure()) return;
  }
  std::printf("HEADRACE-COUNT fuzz=%d\nHEADRACE-COUNT variants=%d\n", static_cast<int>(kRandomPassesGraphs / 5), runs);
}

// Rows after an error fall with their message, and are not counted by a shuffle above.
TEST(Passes, KeepRowsThatOvertakeAnError) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(30)}});
  builder.Add("batch", {0}, {{"size", IntValue(6)}});
  builder.Add("unbatch", {1});
  builder.Add("map", {2});
  builder.Step("OneHot", {"value"}, {"hot"}, {{"num_classes", IntValue(14)}});
  builder.Add("shuffle", {3}, {{"window", IntValue(12)}});
  IterateOptions options = Options();
  const Result optimized = RunWith(builder.raw(), options);
  options.optimize = false;
  const Result reference = RunWith(builder.raw(), options);
  EXPECT_EQ(optimized.rows, reference.rows);
  EXPECT_EQ(optimized.error, reference.error);
  EXPECT_NE(reference.error.find("map[3] OneHot"), std::string::npos) << reference.error;
}

// What the generator must lead to, for the tests above to say anything.
TEST(RandomPasses, HaveSomethingToDo) {
  std::map<std::string, int> changed;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const RandomPipeline pipeline(seed);
    ir::proto::Graph graph = pipeline.graph();
    ASSERT_TRUE(ir::Canonicalize(graph).ok());
    const absl::StatusOr<ir::Optimized> optimized = ir::Optimize(graph);
    ASSERT_TRUE(optimized.ok()) << optimized.status();
    for (const ir::PassTrace& trace : optimized->trace) {
      EXPECT_EQ(trace.problem, "") << trace.name << "\n" << trace.before_text;
      changed[trace.name] += trace.changed ? 1 : 0;
    }
  }
  for (const std::string name : {"fold_constants", "remove_identities", "push_down", "commute_shuffle",
                                 "drop_unread_columns", "merge_maps", "insert_caches"}) {
    EXPECT_GT(changed[name], 10) << name;
  }
}

}  // namespace
}  // namespace headrace
