#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/graph.pb.h"
#include "ops/testing/counted_rows.h"
#include "ops/testing/fake_children.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;

// Rows of the given numbers of children: child c of row i is 100 i + c.
GraphBuilder Interleaved(int64_t rows, int64_t group, int64_t cycle, int64_t block) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  builder.Add("test_group", {0}, {{"rows", IntValue(group)}});
  builder.Add("interleave", {1},
              {{"function", ir::ReferenceValue("children")}, {"cycle", IntValue(cycle)}, {"block", IntValue(block)}});
  return builder;
}

RunSpec Children(const Ints& counts) {
  RunSpec spec;
  spec.bindings.functions["children"] = std::make_shared<FakeChildren>(
      [counts](absl::Span<const Tensor> row, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
        const int64_t number = row[0].value<int64_t>();
        if (static_cast<int64_t>(i) >= counts[static_cast<size_t>(number)]) return std::vector<Tensor>();
        return std::vector<Tensor>{Int64Tensor({}, {100 * number + static_cast<int64_t>(i)})};
      });
  return spec;
}

Ran RanOf(const Ints& counts, int64_t group, int64_t cycle, int64_t block) {
  return RunEveryWay(Interleaved(static_cast<int64_t>(counts.size()), group, cycle, block), Children(counts));
}

// The algorithm of tf.data's InterleaveDataset.
Ints AsTensorFlowDoes(const Ints& counts, size_t cycle, int64_t block) {
  std::vector<std::deque<int64_t>> slots(cycle);
  std::vector<bool> open(cycle, false);
  Ints given;
  size_t input = 0, at = 0, opened = 0;
  int64_t in_block = 0;
  const auto advance = [&] {
    in_block = 0;
    at = (at + 1) % cycle;
  };
  while (input < counts.size() || opened > 0) {
    if (open[at]) {
      if (slots[at].empty()) {
        open[at] = false;
        --opened;
        advance();
        continue;
      }
      given.push_back(slots[at].front());
      slots[at].pop_front();
      if (++in_block == block) advance();
    } else if (input < counts.size()) {
      for (int64_t c = 0; c < counts[input]; ++c) slots[at].push_back(100 * static_cast<int64_t>(input) + c);
      open[at] = true;
      ++opened;
      ++input;
    } else {
      advance();
    }
  }
  return given;
}

int64_t Between(std::mt19937& draws, int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(draws);
}

// Over rows that are read by number, and counted.
GraphBuilder Numbered(int64_t rows, bool shuffled, int64_t cycle, int64_t block) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", ir::BoolValue(shuffled)}});
  builder.Add("test_counted", {0});
  builder.Add("interleave", {1},
              {{"function", ir::ReferenceValue("children")}, {"cycle", IntValue(cycle)}, {"block", IntValue(block)}});
  return builder;
}

class Interleave : public ::testing::TestWithParam<int64_t> {};

TEST_P(Interleave, TakesTurns) {
  const Ran ran = RanOf({3, 2, 2}, GetParam(), 2, 1);
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 100, 1, 101, 2, 200, 201));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(0, 100, 1, 101, 2, 200, 201));
  EXPECT_EQ(ran.Keys()[3], MixKey(1, 1)) << "the row's key, mixed with the number of the child";
  EXPECT_EQ(ran.cardinality, Cardinality::Unknown());
}

// The example of tf.data's documentation.
TEST_P(Interleave, GivesBlocks) {
  EXPECT_THAT(RanOf({6, 6, 6, 6, 6}, GetParam(), 2, 4).Ints(),
              ElementsAre(0, 1, 2, 3, 100, 101, 102, 103, 4, 5, 104, 105, 200, 201, 202, 203, 300, 301, 302, 303, 204,
                          205, 304, 305, 400, 401, 402, 403, 404, 405));
}

TEST_P(Interleave, TakesRowsWithoutChildren) {
  EXPECT_THAT(RanOf({0, 0, 1, 0, 3}, GetParam(), 3, 2).Ints(), ElementsAre(200, 400, 401, 402));
  EXPECT_THAT(RanOf({0, 0, 0}, GetParam(), 2, 1).Ints(), ElementsAre());
  EXPECT_THAT(RanOf({}, GetParam(), 2, 1).Ints(), ElementsAre());
}

TEST_P(Interleave, HasTheOrderOfTensorFlow) {
  std::mt19937 draws(7);
  for (int trial = 0; trial < 12; ++trial) {
    Ints counts(static_cast<size_t>(Between(draws, 0, 9)));
    for (int64_t& count : counts) count = Between(draws, 0, 11);
    const int64_t cycle = Between(draws, 1, 5);
    const int64_t block = Between(draws, 1, 4);
    EXPECT_EQ(RanOf(counts, GetParam(), cycle, block).Ints(),
              AsTensorFlowDoes(counts, static_cast<size_t>(cycle), block))
        << "trial " << trial;
  }
}

TEST_P(Interleave, StopsAmidATurn) {
  GraphBuilder builder = Interleaved(3, GetParam(), 2, 3);
  builder.Add("take", {2}, {{"count", IntValue(5)}});
  EXPECT_THAT(RunEveryWay(builder, Children({4, 9, 2})).Ints(0, 1), ElementsAre(0, 1, 2, 100, 101));
}

TEST_P(Interleave, MayBeBatched) {
  GraphBuilder builder = Interleaved(3, GetParam(), 2, 3);
  builder.Add("batch", {2}, {{"size", IntValue(4)}});
  EXPECT_THAT(RunEveryWay(builder, Children({4, 2, 1})).Texts(),
              ElementsAre("value=int64 (4,) [0 1 2 100]", "value=int64 (3,) [101 3 200]"));
}

INSTANTIATE_TEST_SUITE_P(Grouped, Interleave, ::testing::Values(1, 2, 5));

TEST(InterleaveOperator, GivesTheSameOverRowsReadByNumber) {
  std::mt19937 draws(11);
  for (int trial = 0; trial < 12; ++trial) {
    Ints counts(static_cast<size_t>(Between(draws, 0, 9)));
    for (int64_t& count : counts) count = Between(draws, 0, 11);
    const int64_t rows = static_cast<int64_t>(counts.size());
    const int64_t cycle = Between(draws, 1, 5);
    const int64_t block = Between(draws, 1, 4);
    const Ran ran = RunEveryWay(Numbered(rows, false, cycle, block), Children(counts));
    EXPECT_EQ(ran.Ints(), AsTensorFlowDoes(counts, static_cast<size_t>(cycle), block)) << "trial " << trial;
    RunEveryWay(Numbered(rows, true, cycle, block), Children(counts));
  }
}

TEST(InterleaveOperator, ReadsOpenRowsAloneAgain) {
  Ints counts(60, 2);
  // One that stays open from early on.
  counts[1] = 200;
  const RunSpec spec = Children(counts);
  const ir::proto::Graph graph = *Numbered(60, false, 3, 1).Build();
  PipelineOptions options = OptionsOf(spec);
  options.epochs = {0, 0};
  const absl::StatusOr<Ran> ran = RunOnce(graph, options);
  ASSERT_TRUE(ran.ok()) << ran.status();
  ASSERT_EQ(ran->rows.size(), 318u);
  for (const size_t row : {0, 1, 2, 60, 150, 316}) {
    const Position& after = ran->rows[row].after;
    const uint64_t read = after.checkpoint[0];
    const uint64_t open = after.checkpoint.back();
    EXPECT_LE(open, 3u);
    counted_rows = 0;
    options.checkpoint = after.checkpoint;
    options.delivered = after.delivered;
    const absl::StatusOr<Ran> rest = RunOnce(graph, options);
    ASSERT_TRUE(rest.ok()) << rest.status();
    EXPECT_EQ(rest->rows.size(), 317 - row);
    EXPECT_EQ(static_cast<uint64_t>(counted_rows), open + 60 - read);
  }
}

TEST(InterleaveOperator, TakesBatchesApart) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(10)}});
  builder.Add("batch", {0}, {{"size", IntValue(3)}});
  builder.Add("interleave", {1}, {{"function", ir::ReferenceValue("values")}, {"cycle", IntValue(2)}});
  RunSpec spec;
  spec.bindings.functions["values"] = std::make_shared<FakeChildren>(
      [](absl::Span<const Tensor> row, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
        if (static_cast<int64_t>(i) == row[0].dim(0)) return std::vector<Tensor>();
        return std::vector<Tensor>{row[0].Index(static_cast<int64_t>(i))};
      });
  EXPECT_THAT(RunEveryWay(builder, spec).Ints(), ElementsAre(0, 3, 1, 4, 2, 5, 6, 9, 7, 8));
}

TEST(InterleaveOperator, EndsWithTheErrorWhereItsTurnIs) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(4)}});
  builder.Add("test_fail", {0}, {{"values", ir::IntsValue({2})}});
  builder.Add("interleave", {1}, {{"function", ir::ReferenceValue("children")}, {"cycle", IntValue(2)}});
  const Ran ran = RunEveryWay(builder, Children({1, 4, 2, 1}));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 100, 101));
  EXPECT_THAT(ran.error.ToString(), HasSubstr("the value 2 is not liked"));
}

// A row that fails takes a turn and gives nothing; the limit counts each once, whatever restarts read again.
TEST(InterleaveOperator, SkipsRowsThatFail) {
  GraphBuilder builder;
  builder.SkipFailed(3);
  builder.Add("Range", {}, {{"stop", IntValue(6)}});
  builder.Add("test_fail", {0}, {{"values", ir::IntsValue({1, 4, 5})}});
  builder.Add("interleave", {1}, {{"function", ir::ReferenceValue("children")}, {"cycle", IntValue(2)}});
  const Ran ran = RunEveryWay(builder, Children({3, 2, 1, 4, 1, 1}));
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 1, 2, 200, 300, 301, 302, 303));
}

}  // namespace
}  // namespace headrace
