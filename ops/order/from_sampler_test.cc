// Orders that the user's code gives: whatever runs, each epoch has what its sampler gave, and bad answers are named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/buffer.h"
#include "engine/plan/plan_node.h"
#include "ir/graph.pb.h"
#include "ops/order/occurrence_key.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Order = std::function<std::vector<int64_t>(int64_t epoch)>;

GraphBuilder OverFromSampler(int64_t rows, bool shuffle = false) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", BoolValue(shuffle)}});
  builder.Add("from_sampler", {0}, {{"size", ir::ReferenceValue("size")}, {"indices", ir::ReferenceValue("indices")}});
  return builder;
}

std::shared_ptr<HostFunction> Function(std::function<Tensor(int64_t epoch)> body) {
  return std::make_shared<FakeFunction>(
      [body = std::move(body)](absl::Span<const Tensor> inputs, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
        return std::vector<Tensor>{body(static_cast<int64_t>(inputs[0].value<uint64_t>()))};
      });
}

RunSpec Asking(Order order) {
  RunSpec spec;
  spec.bindings.functions["size"] =
      Function([order](int64_t epoch) { return *Tensor::Scalar(static_cast<int64_t>(order(epoch).size())); });
  spec.bindings.functions["indices"] = Function([order](int64_t epoch) { return Int64s(order(epoch)); });
  return spec;
}

TEST(FromSampler, GivesWhatItSaysForEachEpoch) {
  const RunSpec spec = Asking(
      [](int64_t epoch) { return epoch % 2 == 0 ? std::vector<int64_t>{4, 0, 4, 2, 4} : std::vector<int64_t>{1, 3}; });
  const Ran ran = RunEveryWay(OverFromSampler(5), spec);
  EXPECT_THAT(ran.Ints(), ElementsAre(4, 0, 4, 2, 4));
  EXPECT_THAT(ran.Keys(), ElementsAre(4, 0, KeyOfOccurrence(4, 0, 1), 2, KeyOfOccurrence(4, 0, 2)));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(1, 3));
  const std::vector<Ran> ranks = RunRanks(OverFromSampler(5), 2, spec);
  EXPECT_THAT(ranks[0].Ints(), ElementsAre(4, 4, 4));
  EXPECT_THAT(ranks[1].Ints(), ElementsAre(0, 2));
  EXPECT_THAT(ranks[1].Ints(0, 1), ElementsAre(3));
}

TEST(FromSampler, TakesThePlaceOfAShuffle) {
  EXPECT_THAT(RunEveryWay(OverFromSampler(9, true), Asking([](int64_t) { return std::vector<int64_t>{8, 1}; })).Ints(),
              ElementsAre(8, 1));
}

// Every epoch has one row more.
std::vector<int64_t> Growing(int64_t epoch) {
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < 3 + epoch; ++row) rows.push_back((row * 7 + epoch) % 10);
  return rows;
}

TEST(FromSampler, EpochsOfTheirOwnSizesGoThroughOtherOperatorsOnIndices) {
  GraphBuilder builder = OverFromSampler(10);
  builder.Add("Repeated", {1}, {{"times", IntValue(2)}});
  builder.Add("skip", {2}, {{"count", IntValue(3)}});
  builder.Add("take", {3}, {{"count", IntValue(4)}});
  builder.Add("Range", {}, {{"stop", IntValue(2)}});
  builder.Add("concat", {4, 5}, {});
  const Ran ran = RunEveryWay(builder, Asking(Growing));
  EXPECT_THAT(ran.Ints(), ElementsAre(7, 4, 4, 0, 1));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(8, 5, 5, 2, 0, 1));
  builder = OverFromSampler(10);
  builder.Add("Range", {}, {{"start", IntValue(0)}, {"stop", IntValue(4)}});
  builder.Add("rename", {2}, {{"mapping", ir::PairsValue({{"value", "other"}})}});
  builder.Add("zip", {1, 3}, {});
  const Ran zipped = RunEveryWay(builder, Asking(Growing));
  EXPECT_THAT(zipped.Ints(1), ElementsAre(0, 1, 2));
  EXPECT_THAT(zipped.Ints(1, 1), ElementsAre(0, 1, 2, 3));
}

std::string ErrorOf(Tensor size, Tensor indices) {
  RunSpec spec;
  spec.bindings.functions["size"] = Function([size](int64_t) { return size; });
  spec.bindings.functions["indices"] = Function([indices](int64_t) { return indices; });
  const std::string refused = Refusal(OverFromSampler(5), spec);
  if (!refused.empty()) return refused;
  const auto graph = OverFromSampler(5).Build();
  const absl::StatusOr<Ran> ran = RunOnce(*graph, OptionsOf(spec));
  return ran.ok() ? std::string(ran->error.message()) : std::string(ran.status().message());
}

TEST(FromSampler, NamesWhatIsWrong) {
  const auto number = [](int64_t value) { return *Tensor::Scalar(value); };
  EXPECT_THAT(ErrorOf(*Tensor::Scalar(2.5), Int64s({1})), HasSubstr("size(0) of the sampler gave float64"));
  EXPECT_THAT(ErrorOf(Int64s({1}), Int64s({1})), HasSubstr("size(0) of the sampler gave int64 (1,)"));
  EXPECT_THAT(ErrorOf(*Tensor::CopyBytes(DType::kString, "None"), Int64s({1})),
              HasSubstr("gave None; it must give a whole number of 64 bits"));
  EXPECT_THAT(ErrorOf(number(1), *Tensor::CopyBytes(DType::kString, "None")),
              HasSubstr("indices(0, rng) of the sampler gave None; it must give row numbers"));
  EXPECT_THAT(ErrorOf(number(0), Int64s({})), HasSubstr("gave 0; an epoch has at least one row"));
  EXPECT_THAT(ErrorOf(number(-3), Int64s({})), HasSubstr("gave -3"));
  EXPECT_THAT(ErrorOf(number(int64_t{1} << 62), Int64s({})), HasSubstr("more than half of the budget"));
  EXPECT_THAT(ErrorOf(number(2), Int64s({1})), HasSubstr("gave 1 rows, but size(0) says 2"));
  EXPECT_THAT(ErrorOf(number(2), Int64s({1, 5})), HasSubstr("gave 5 at 1, but there are 5 rows, numbered from 0"));
  EXPECT_THAT(ErrorOf(number(2), Int64s({-1, 2})), HasSubstr("gave -1 at 0"));
  EXPECT_THAT(ErrorOf(number(4), Int64Tensor({2, 2}, {0, 1, 2, 3})), HasSubstr("gave int64 (2, 2)"));
  EXPECT_THAT(ErrorOf(number(1), *Tensor::Allocate(DType::kFloat64, {1})), HasSubstr("gave float64 (1,)"));
  EXPECT_THAT(Refusal(OverFromSampler(0), Asking([](int64_t) { return std::vector<int64_t>{0}; })), HasSubstr("no rows"));
  EXPECT_THAT(Refusal(OverFromSampler(3)), HasSubstr("is not here"));
}

TEST(FromSampler, TablesCountInTheBudget) {
  const RunSpec spec = Asking([](int64_t) { return std::vector<int64_t>(2000, 1); });
  const ir::proto::Graph graph = *OverFromSampler(5).Build();
  RunOptions run;
  run.bindings = &spec.bindings;
  MemoryAccount* const account = MemoryAccount::Open();
  {
    const std::unique_ptr<PlanNode> node = *MakePlanNodes(graph, run);
    // The order counts when its task has ended, in which other memory counted.
    for (const uint64_t epoch : {0, 1}) {
      const TaskMemory task(&BufferPool::Global(), account, 0);
      ASSERT_TRUE(node->indexed->Begin(epoch).ok());
    }
    EXPECT_EQ(account->held(), 2000 * 8) << "the epoch's rows and which come again";
  }
  EXPECT_EQ(account->held(), 0);
  account->Close();
}

TEST(FromSampler, MayChooseFewOfManyRows) {
  RunSpec spec = Asking([](int64_t) { return std::vector<int64_t>{7, 99'999'999}; });
  PipelineOptions options = OptionsOf(spec);
  options.memory = 1 << 16;
  const absl::StatusOr<Ran> ran = RunOnce(*OverFromSampler(100'000'000).Build(), options);
  ASSERT_TRUE(ran.ok()) << ran.status();
  EXPECT_THAT(ran->Ints(), ElementsAre(7, 99'999'999));
}

TEST(FromSampler, TablesFitInHalfOfTheBudget) {
  const auto refusal = [](size_t rows, int64_t of) {
    PipelineOptions options = OptionsOf(Asking([rows](int64_t) { return std::vector<int64_t>(rows, 1); }));
    options.memory = 160'000;
    const absl::StatusOr<Ran> ran = RunOnce(*OverFromSampler(of).Build(), options);
    return ran.ok() ? std::string() : std::string(ran.status().message());
  };
  EXPECT_EQ(refusal(9'000, 2'000), "");
  EXPECT_THAT(refusal(9'000, 2'001), HasSubstr("takes 8 bytes for each of 9000 rows of an epoch and 8004 to count"));
  EXPECT_THAT(refusal(10'000, 1), HasSubstr("more than half of the budget"));
}

}  // namespace
}  // namespace headrace
