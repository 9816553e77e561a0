// Random trees of operators against a model of a few lines each, run in every way: the markers, errors, checkpoints and
// FinishEpoch of each operator must suit every other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/testing/rounds.h"
#include "ir/dump.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;

const uint64_t kGraphs = Rounds(1000, {.quick = 100, .sanitized = 60, .long_run = 3000});

// Of a row that failed and is skipped.
constexpr int64_t kFailed = -1;

// An epoch as it should be: rows up to the first error, if there is one.
struct Model {
  std::vector<int64_t> rows;
  bool errs = false;
  bool ordered = true;     // no shuffle: the rows are known, not only how many may be
  bool counted = true;     // how many there may be is known
  bool renumbers = false;  // a filter or batch would let other rows stand side by side where rows are left out
  // The last epoch of which all passes below have numbers; nullopt: none.
  std::optional<uint64_t> last_epoch = EpochRange::kMost;

  // Passes are numbered `step` an epoch, and reach `last` in it.
  void CountPasses(uint64_t step, uint64_t last) {
    const bool any = last_epoch.has_value() && *last_epoch >= last;
    last_epoch = any ? std::optional((*last_epoch - last) / step) : std::nullopt;
  }
  void MeetEpochs(const Model& other) {
    last_epoch = last_epoch.has_value() && other.last_epoch.has_value()
                     ? std::optional(std::min(*last_epoch, *other.last_epoch))
                     : std::nullopt;
  }

  void Meet(const Model& other) {
    ordered &= other.ordered;
    counted &= other.counted;
    renumbers |= other.renumbers;
    MeetEpochs(other);
  }

  Model Truncated(size_t count) && {
    if (count > rows.size()) return std::move(*this);
    rows.resize(count);
    errs = false;
    return std::move(*this);
  }
};

// One column, `value`, all the way.
class RandomGraph {
 public:
  RandomGraph(uint64_t seed, bool skips) : random_(seed), skips_(skips) {}

  GraphBuilder Build() {
    Tree(4, model_);
    if (skips_) builder_.SkipFailed(1000);
    // What is left out where the rows are given out.
    if (skips_) LeaveOut(model_);
    return builder_;
  }
  const Model& model() const { return model_; }

 private:
  int64_t Below(int64_t bound) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound)); }

  uint32_t Tree(int depth, Model& model) {
    if (depth == 0) return Range(model);
    switch (Below(14)) {
      case 0:
        return Concat(depth, model);
      case 1:
        return Zip(depth, model);
      case 2:
        return Below(3) == 0 ? MixRanges(model) : Mix(depth, model);
      case 3:
        if (Below(2) == 0) return Changing(model);
        [[fallthrough]];
      default:
        return OnOne(Below(12), Tree(depth - 1, model), model);
    }
  }

  uint32_t Range(Model& model) {
    const int64_t start = Below(5), rows = Below(4) == 0 ? Below(3) : Below(20);
    for (int64_t i = 0; i < rows; ++i) model.rows.push_back(start + i);
    const bool shuffled = Below(4) == 0;
    model.ordered &= !shuffled;
    const uint32_t range = builder_.Add(
        "Range", {},
        {{"start", IntValue(start)}, {"stop", IntValue(start + rows)}, {"shuffle", ir::BoolValue(shuffled)}});
    return rows == 0 || Below(3) > 0 ? range : Selected(range, model);
  }

  // Passes that have a row or two, or none, which differ from pass to pass. One without rows ends an endless repeat.
  uint32_t Changing(Model& model) {
    const uint32_t range =
        builder_.Add("Range", {}, {{"stop", IntValue(2 + Below(4))}, {"shuffle", ir::BoolValue(true)}});
    const uint32_t taken = builder_.Add("take", {range}, {{"count", IntValue(1 + Below(2))}});
    const uint32_t thinned = Filter(taken, model);
    model.ordered = model.counted = false;
    if (Below(3) == 0) return Repeat(thinned, model);
    model.CountPasses(uint64_t{1} << 32, (uint64_t{1} << 32) - 2);
    const uint32_t repeat = builder_.Add("repeat", {thinned});
    return builder_.Add("take", {repeat}, {{"count", IntValue(Below(12))}});
  }

  uint32_t Selected(uint32_t input, Model& model) {
    std::vector<int64_t> chosen, rows;
    for (int64_t left = Below(20); left > 0; --left) {
      chosen.push_back(Below(static_cast<int64_t>(model.rows.size())));
      rows.push_back(model.rows[static_cast<size_t>(chosen.back())]);
    }
    model.rows = std::move(rows);
    return builder_.Add("select", {input}, {{"indices", ir::IntsValue(chosen)}});
  }

  uint32_t Concat(int depth, Model& model) {
    const uint32_t left = Tree(depth - 1, model);
    Model second;
    const uint32_t right = Tree(depth - 2 > 0 ? depth - 2 : 0, second);
    return ConcatOf(left, right, model, second);
  }

  uint32_t ConcatOf(uint32_t left, uint32_t right, Model& model, const Model& second) {
    model.Meet(second);
    if (!model.errs) {
      model.rows.insert(model.rows.end(), second.rows.begin(), second.rows.end());
      model.errs = second.errs;
    }
    return builder_.Add("concat", {left, right});
  }

  uint32_t Zip(int depth, Model& model) {
    const uint32_t left = Tree(depth - 1, model);
    Model second;
    const uint32_t right = Tree(depth - 2 > 0 ? depth - 2 : 0, second);
    if (skips_ && (model.renumbers || second.renumbers)) return ConcatOf(left, right, model, second);
    const uint32_t renamed = builder_.Add("rename", {right}, {{"mapping", ir::PairsValue({{"value", "other"}})}});
    const uint32_t zip = builder_.Add("zip", {left, renamed});
    const size_t rows = std::min(model.rows.size(), second.rows.size());
    const bool left_ends = model.rows.size() == rows && !model.errs;
    const bool right_ends = second.rows.size() == rows && !second.errs;
    model.Meet(second);
    model.errs = !left_ends && !right_ends;
    model.rows.resize(rows);
    for (size_t i = 0; i < rows; ++i) {
      if (second.rows[i] == kFailed) model.rows[i] = kFailed;
    }
    return builder_.Add("project", {zip}, {{"columns", ir::StringsValue({"value"})}});
  }

  uint32_t Mix(int depth, Model& model) {
    const uint32_t left = Tree(depth - 1, model);
    Model second;
    const uint32_t right = Tree(depth - 2 > 0 ? depth - 2 : 0, second);
    const bool all = Below(2) == 0;
    model.Meet(second);
    model.ordered = false;
    model.counted &= all;
    model.rows.insert(model.rows.end(), second.rows.begin(), second.rows.end());
    model.errs |= second.errs;
    return MixOf({left, right}, all ? "all" : "first");
  }

  uint32_t MixRanges(Model& model) {
    const uint32_t left = Range(model);
    Model second;
    const uint32_t right = Range(second);
    const bool empty = model.rows.empty() || second.rows.empty();
    model.Meet(second);
    model.ordered = model.counted = false;
    if (empty) return MixOf({left, right}, "first");
    model.CountPasses(uint64_t{1} << 32, (uint64_t{1} << 32) - 2);
    return MixOf({left, right}, "repeat");
  }

  uint32_t MixOf(std::vector<uint32_t> inputs, std::string_view stop) {
    const double weights[] = {0.2, 1, 5};
    return builder_.Add("mix", std::move(inputs),
                        {{"weights", ir::FloatsValue({weights[Below(3)], weights[Below(3)]})},
                         {"stop", ir::StringValue(std::string(stop))}});
  }

  uint32_t OnOne(int64_t kind, uint32_t input, Model& model) {
    switch (kind) {
      case 0:
        return Filter(input, model);
      case 1: {
        const int64_t count = Below(15);
        model = std::move(model).Truncated(static_cast<size_t>(count));
        return builder_.Add("take", {input}, {{"count", IntValue(count)}});
      }
      case 2: {
        const int64_t count = Below(8);
        const size_t gone = std::min(model.rows.size(), static_cast<size_t>(count));
        model.rows.erase(model.rows.begin(), model.rows.begin() + static_cast<std::ptrdiff_t>(gone));
        return builder_.Add("skip", {input}, {{"count", IntValue(count)}});
      }
      case 3:
        return BatchAndUnbatch(input, model);
      case 4:
        return Repeat(input, model);
      case 5:
        if (skips_ || Below(3) == 0) return Fail(input, model);
        [[fallthrough]];
      case 6:
        model.ordered = false;
        return builder_.Add("shuffle", {input}, {{"window", IntValue(1 + Below(9))}});
      case 8:
        return Cache(input);
      case 7:
        return builder_.Add("project", {input}, {{"columns", ir::StringsValue({"value"})}});
      default:
        return builder_.Add("test_group", {input}, {{"rows", IntValue(1 + Below(5))}});
    }
  }

  // With room for all, for a few rows, or for none: the rows are the same.
  uint32_t Cache(uint32_t input) {
    const int64_t memory[] = {0, 500, 3000};
    if (Below(2) == 0) return builder_.Add("cache", {input});
    return builder_.Add("cache", {input}, {{"memory", IntValue(memory[Below(3)])}});
  }

  uint32_t Filter(uint32_t input, Model& model) {
    const int64_t divisor = 2 + Below(3);
    std::erase_if(model.rows, [divisor](int64_t value) { return value == kFailed || value % divisor == 0; });
    model.renumbers = true;
    const auto literal = [](int64_t value) { return ir::LiteralExpression(IntValue(value)); };
    const auto rest = ir::CallExpression("%", ir::ColumnExpression("value"), literal(divisor));
    return builder_.Add("filter", {input},
                        {{"predicate", ir::ExpressionValue(ir::CallExpression("!=", rest, literal(0)))}});
  }

  uint32_t BatchAndUnbatch(uint32_t input, Model& model) {
    const int64_t size = 1 + Below(5);
    const bool drop = Below(2) == 0;
    model.renumbers = true;
    LeaveOut(model);
    const bool chosen = Below(3) == 0;
    // An error takes the unfinished batch with it.
    if (drop || model.errs) model.rows.resize(RowsOfWhole(model.rows.size(), chosen ? 0 : static_cast<size_t>(size)));
    const std::pair<std::string, ir::proto::Value> rows =
        chosen ? std::pair("choose_size", ir::ReferenceValue("cycle")) : std::pair("size", IntValue(size));
    const uint32_t batch =
        builder_.Add(chosen ? "python_batch" : "batch", {input}, {rows, {"drop_remainder", ir::BoolValue(drop)}});
    const uint32_t grouped = Below(2) == 0 ? builder_.Add("test_group", {batch}, {{"rows", IntValue(2)}}) : batch;
    return builder_.Add("unbatch", {grouped});
  }

  // Of so many rows, those in whole batches of `size`; 0: of 1, 2, 3, 1, … rows.
  static size_t RowsOfWhole(size_t rows, size_t size) {
    if (size > 0) return rows / size * size;
    size_t whole = 0;
    for (size_t number = 0; whole + 1 + number % 3 <= rows; ++number) whole += 1 + number % 3;
    return whole;
  }

  uint32_t Repeat(uint32_t input, Model& model) {
    const std::vector<int64_t> once = model.rows;
    const bool endless = Below(2) == 0 && !once.empty() && model.ordered;
    const int64_t passes = endless ? 40 : 1 + Below(3);
    model.errs |= AllFailed(once);
    for (int64_t pass = 1; pass < passes && !model.errs; ++pass) {
      model.rows.insert(model.rows.end(), once.begin(), once.end());
    }
    if (!endless) {
      model.CountPasses(static_cast<uint64_t>(passes), static_cast<uint64_t>(passes - 1));
      return builder_.Add("repeat", {input}, {{"count", IntValue(passes)}});
    }
    model.CountPasses(uint64_t{1} << 32, (uint64_t{1} << 32) - 2);
    const uint32_t repeat = builder_.Add("repeat", {input});
    const int64_t count = Below(35);
    model = std::move(model).Truncated(static_cast<size_t>(count));
    return builder_.Add("take", {repeat}, {{"count", IntValue(count)}});
  }

  uint32_t Fail(uint32_t input, Model& model) {
    const int64_t unlucky = 3 + Below(10);
    const auto found = std::find(model.rows.begin(), model.rows.end(), unlucky);
    if (skips_) {
      std::replace(model.rows.begin(), model.rows.end(), unlucky, kFailed);
    } else if (found != model.rows.end()) {
      model.rows.erase(found, model.rows.end());
      model.errs = true;
    }
    return builder_.Add("test_fail", {input}, {{"values", ir::IntsValue({unlucky})}});
  }

  static bool AllFailed(const std::vector<int64_t>& rows) {
    return !rows.empty() && std::count(rows.begin(), rows.end(), kFailed) == static_cast<std::ptrdiff_t>(rows.size());
  }
  // That nothing but rows that failed came is an error.
  static void LeaveOut(Model& model) {
    model.errs |= AllFailed(model.rows);
    std::erase(model.rows, kFailed);
  }

  std::mt19937_64 random_;
  const bool skips_;
  GraphBuilder builder_;
  Model model_;
};

void CheckModel(const Model& model, const RunSpec& spec, bool skips, const Ran& ran) {
  const uint64_t end = spec.first_epoch + spec.epochs;
  if (model.ordered) {
    EXPECT_EQ(ran.Ints(0, spec.first_epoch), model.rows);
    EXPECT_EQ(!ran.error.ok(), model.errs) << ran.error;
    for (uint64_t epoch = spec.first_epoch + 1; epoch < end; ++epoch) {
      EXPECT_EQ(ran.Ints(0, epoch), model.errs ? std::vector<int64_t>() : model.rows);
    }
  }
  for (uint64_t epoch = spec.first_epoch; epoch < end && model.counted && ran.error.ok() && ran.cardinality.known();
       ++epoch) {
    if (skips) {
      EXPECT_LE(ran.Ints(0, epoch).size(), ran.cardinality.rows);
    } else {
      EXPECT_EQ(ran.Ints(0, epoch).size(), ran.cardinality.rows);
    }
  }
}

// The first two epochs, those around which numbers have another sign or width, or the last that can be counted.
void DrawEpochs(uint64_t last, uint64_t draw, RunSpec& spec) {
  const uint64_t firsts[] = {0, 0, 0, (uint64_t{1} << 31) - 1, (uint64_t{1} << 32) - 1, (uint64_t{1} << 63) - 1, last};
  spec.first_epoch = firsts[draw % std::size(firsts)];
  if (spec.first_epoch >= last) spec.first_epoch = last == 0 ? 0 : last - 1;
  spec.epochs = last == 0 ? 1 : 2;
}

// Gives batches 1, 2, 3, 1, … rows.
absl::StatusOr<std::vector<Tensor>> Cycle(absl::Span<const Tensor> inputs, RowRandom*) {
  const uint64_t number = *inputs[0].data<uint64_t>();
  return std::vector<Tensor>{*Tensor::Scalar(static_cast<int64_t>(1 + number % 3))};
}

void CheckGraphs(bool skips) {
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    RandomGraph random(seed, skips);
    const GraphBuilder builder = random.Build();
    SCOPED_TRACE(Cat("seed ", seed, "\n", ir::GraphDump(builder.raw())));
    RunSpec spec;
    spec.bindings.functions["cycle"] = std::make_shared<FakeFunction>(Cycle);
    spec.restart_every = 3;
    spec.threaded_restart_every = 6;
    const Model& model = random.model();
    if (model.last_epoch.has_value()) {
      DrawEpochs(*model.last_epoch, seed, spec);
      CheckModel(model, spec, skips, RunEveryWay(builder, spec));
    }
    if (model.last_epoch != EpochRange::kMost) {
      spec.first_epoch = model.last_epoch.has_value() ? *model.last_epoch + 1 : 0;
      EXPECT_NE(Refusal(builder, spec).find("cannot be counted"), std::string::npos) << spec.first_epoch;
    }
    if (::testing::Test::HasFailure()) return;
  }
  std::printf("HEADRACE-COUNT fuzz=%d\n", static_cast<int>(kGraphs));
}

TEST(RandomGraphs, AreAsTheirModelEveryWay) { CheckGraphs(false); }
TEST(RandomGraphs, AreAsTheirModelEveryWayIfRowsThatFailAreSkipped) { CheckGraphs(true); }

}  // namespace
}  // namespace headrace
