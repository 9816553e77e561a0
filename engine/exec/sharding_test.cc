// Rows are sharded so that every position is read exactly once, or as often as padding says; on all ranks alike.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/error.h"
#include "engine/exec/pipeline.h"
#include "engine/testing/cooperative_threads.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

using ir::IntValue;
using Even = ShardAssignment::Even;

TEST(ShardAssignment, RowsAddUp) {
  for (uint64_t size = 0; size < 30; ++size) {
    for (uint64_t base = 0; base <= size + 2; ++base) {
      for (uint64_t world = 1; world < 9; ++world) {
        const uint64_t left = size > base ? size - base : 0;
        uint64_t off = 0;
        for (uint64_t rank = 0; rank < world; ++rank) {
          off += ShardAssignment{rank, world, 0, Even::kOff}.RowsOf(size, base);
          const uint64_t drop = ShardAssignment{rank, world, 0, Even::kDrop}.RowsOf(size, base);
          const uint64_t pad = ShardAssignment{rank, world, 0, Even::kPad}.RowsOf(size, base);
          EXPECT_EQ(drop, left / world);
          EXPECT_EQ(pad, (left + world - 1) / world);
        }
        EXPECT_EQ(off, left);
      }
    }
  }
}

struct RankRows {
  std::vector<int64_t> values;
  std::vector<RowId> ids;
};

RankRows RunRank(const ir::proto::Graph& graph, ShardAssignment shard, uint64_t epochs = 1) {
  PipelineOptions options;
  options.shard = shard;
  options.epochs = {0, epochs - 1};
  options.pull = true;
  const auto pipeline = Pipeline::Make(graph, options);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  RankRows rows;
  while (pipeline.ok() && (*pipeline)->position().epoch < epochs) {
    ResultRow row;
    const auto outcome = (*pipeline)->Next(std::chrono::seconds(60), row);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    if (!outcome.ok()) break;
    if (*outcome != Pipeline::Outcome::kRow) continue;
    rows.values.push_back(CheckedValue(row));
    rows.ids.push_back(row.id);
  }
  return rows;
}

ir::proto::Graph SourceOf(std::string_view op, uint64_t size) {
  FakeGraph graph;
  graph.Add(op, {{"rows", IntValue(static_cast<int64_t>(size))}});
  graph.Add("fake_work");
  return graph.Build();
}

std::vector<int64_t> NumbersSharding(uint64_t from, uint64_t to) {
  std::vector<int64_t> values;
  for (uint64_t i = from; i < to; ++i) values.push_back(static_cast<int64_t>(i));
  return values;
}

TEST(ShardAssignment, EveryPositionOnceAcrossRanks) {
  int checked = 0;
  for (const char* op : {"fake_count", "fake_stream"}) {
    for (uint64_t i = 0; i < 60; ++i, ++checked) {
      ScheduleRandom random(i);
      const uint64_t world = 1 + random.Below(6);
      const uint64_t size = 1 + random.Below(30);
      const uint64_t base = random.OneIn(2) ? random.Below(size) : 0;
      std::vector<int64_t> all;
      for (uint64_t rank = 0; rank < world; ++rank) {
        const RankRows rows = RunRank(SourceOf(op, size), {rank, world, base, Even::kOff}, 2);
        // Rank r gets positions r, r + world, … of what is left, and in the next epoch of all.
        size_t at = 0;
        for (uint64_t position = base + rank; position < size; position += world) {
          ASSERT_LT(at, rows.values.size());
          EXPECT_EQ(rows.values[at++], static_cast<int64_t>(position));
        }
        for (uint64_t position = rank; position < size; position += world) {
          ASSERT_LT(at, rows.values.size());
          EXPECT_EQ(rows.values[at++], static_cast<int64_t>(position));
        }
        EXPECT_EQ(at, rows.values.size());
        all.insert(all.end(), rows.values.begin(), rows.values.end());
      }
      std::vector<int64_t> expected = NumbersSharding(base, size);
      const std::vector<int64_t> next = NumbersSharding(0, size);
      expected.insert(expected.end(), next.begin(), next.end());
      std::sort(all.begin(), all.end());
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(all, expected) << op << " " << size << " from " << base << " over " << world;
    }
  }
  std::printf("HEADRACE-COUNT variants=%d\n", checked);
}

TEST(ShardAssignment, RunsStayTogether) {
  for (uint64_t i = 0; i < 100; ++i) {
    ScheduleRandom random(i);
    const uint64_t world = 1 + random.Below(4);
    const uint64_t run = 2 + random.Below(4);
    const uint64_t runs = 1 + random.Below(9);
    const uint64_t base = random.OneIn(2) ? random.Below(runs) : 0;
    const Even even = std::array{Even::kOff, Even::kDrop, Even::kPad}[random.Below(3)];
    FakeGraph graph;
    graph.Add("fake_count",
              {{"rows", IntValue(static_cast<int64_t>(runs * run))}, {"run", IntValue(static_cast<int64_t>(run))}});
    graph.Add("fake_work");
    for (uint64_t rank = 0; rank < world; ++rank) {
      std::vector<int64_t> expected;
      const uint64_t rounds = even == Even::kPad ? (runs - base + world - 1) / world : (runs - base) / world;
      for (uint64_t number = base + rank, round = 0; even == Even::kOff ? number < runs : round < rounds;
           number += world, ++round) {
        const std::vector<int64_t> rows = NumbersSharding(number % runs * run, (number % runs + 1) * run);
        expected.insert(expected.end(), rows.begin(), rows.end());
      }
      EXPECT_EQ(RunRank(graph.Build(), {rank, world, base * run, even}).values, expected);
    }
  }
}

TEST(ShardAssignment, EpochsThatBeginHaveTheirOwnNumbersOfRows) {
  for (uint64_t world = 1; world < 4; ++world) {
    FakeGraph graph;
    graph.Add("fake_count", {{"rows", IntValue(3)}, {"grows", IntValue(4)}});
    graph.Add("fake_work");
    for (uint64_t rank = 0; rank < world; ++rank) {
      std::vector<int64_t> expected;
      for (uint64_t epoch = 0; epoch < 5; ++epoch) {
        for (uint64_t position = rank; position < 3 + 4 * epoch; position += world) {
          expected.push_back(static_cast<int64_t>(position));
        }
      }
      EXPECT_EQ(RunRank(graph.Build(), {rank, world, 0, Even::kOff}, 5).values, expected);
    }
  }
}

TEST(ShardAssignment, DropAndPadMakeRanksStepAlike) {
  for (uint64_t i = 0; i < 80; ++i) {
    ScheduleRandom random(i);
    const uint64_t world = 1 + random.Below(6);
    // Few rows are padded more than once.
    const uint64_t size = random.OneIn(3) ? world + random.Below(25) : 1 + random.Below(6);
    const uint64_t base = random.OneIn(2) ? random.Below(size) : 0;
    for (const Even even : {Even::kDrop, Even::kPad}) {
      if (even == Even::kDrop && size < world) continue;
      std::vector<int64_t> plain;
      std::vector<RowId> ids;
      size_t padded = 0;
      const size_t each = RunRank(SourceOf("fake_count", size), {0, world, base, even}).values.size();
      for (uint64_t rank = 0; rank < world; ++rank) {
        const RankRows rows = RunRank(SourceOf("fake_count", size), {rank, world, base, even});
        EXPECT_EQ(rows.values.size(), each);
        for (size_t row = 0; row < rows.values.size(); ++row) {
          ids.push_back(rows.ids[row]);
          if (!rows.ids[row].pad) {
            plain.push_back(rows.values[row]);
            continue;
          }
          ++padded;
          // Wraps to the start, and draws anew.
          const uint64_t position = (base + rank + row * world) % size;
          EXPECT_EQ(rows.values[row], static_cast<int64_t>(position));
          EXPECT_NE(rows.ids[row].key, position);
        }
      }
      std::sort(plain.begin(), plain.end());
      const uint64_t kept = even == Even::kDrop ? base + each * world : size;
      EXPECT_EQ(plain, NumbersSharding(base, kept));
      EXPECT_EQ(padded, even == Even::kDrop ? 0 : each * world - (size - base));
      for (size_t a = 0; a < ids.size(); ++a) {
        for (size_t b = a + 1; b < ids.size(); ++b) EXPECT_FALSE(ids[a] == ids[b]);
      }
    }
  }
}

TEST(ShardAssignment, RefusesWhatCannotBeSharded) {
  const auto refusal = [](const FakeGraph& graph, ShardAssignment shard) {
    PipelineOptions options;
    options.shard = shard;
    options.pull = true;
    const auto pipeline = Pipeline::Make(graph.Build(), options);
    return pipeline.ok() ? std::string() : DescribeError(pipeline.status());
  };
  FakeGraph unknown;
  unknown.Add("fake_count", {{"rows", IntValue(30)}});
  unknown.Add("fake_drop");
  const std::string text = refusal(unknown, {0, 2, 0, Even::kDrop});
  EXPECT_NE(text.find("that of fake_drop[1] is not known"), std::string::npos) << text;
  EXPECT_NE(text.find("test.py:2"), std::string::npos) << text;
  EXPECT_EQ(refusal(unknown, {0, 2, 0, Even::kOff}), "");
}

// A run can continue with another number of ranks: the remaining rows are sharded anew.
TEST(ShardAssignment, GoesOnWithOtherRanks) {
  for (uint64_t i = 0; i < 60; ++i) {
    ScheduleRandom random(i);
    const uint64_t world = 1 + random.Below(4);
    const uint64_t later = 1 + random.Below(5);
    const uint64_t size = 20 + random.Below(20);
    const uint64_t each = random.Below(size / world - 2);
    std::vector<int64_t> all;
    for (uint64_t rank = 0; rank < world; ++rank) {
      const RankRows rows = RunRank(SourceOf("fake_count", size), {rank, world, 0, Even::kOff});
      all.insert(all.end(), rows.values.begin(), rows.values.begin() + static_cast<std::ptrdiff_t>(each));
    }
    for (uint64_t rank = 0; rank < later; ++rank) {
      const RankRows rows = RunRank(SourceOf("fake_count", size), {rank, later, each * world, Even::kOff});
      all.insert(all.end(), rows.values.begin(), rows.values.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, NumbersSharding(0, size)) << size << " rows, " << world << " then " << later << " ranks";
  }
}

}  // namespace
}  // namespace headrace
