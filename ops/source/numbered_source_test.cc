// What holds of every format whose rows are read by number: any ranks give each row once and in order, ranks can be
// even, any state goes on exactly, also with other ranks, and a rank reads its own rows. A format joins by an entry in
// NumberedFormats() (ops/source/testing/source_format.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/patience.h"
#include "core/testing/rounds.h"
#include "engine/exec/iteration.h"
#include "io/files/testing/counted_reads.h"
#include "ir/graph.pb.h"
#include "ops/source/testing/source_format.h"
#include "ops/testing/run_operator.h"
#include "ops/testing/state_run.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ::testing::UnorderedElementsAreArray;

class NumberedFormat : public FormatTest {
 protected:
  GraphBuilder Shuffled() const { return Source({{"shuffle", BoolValue(true)}}); }
};

INSTANTIATE_TEST_SUITE_P(All, NumberedFormat, ::testing::ValuesIn(NumberedFormats()), NameOfFormat);

TEST_P(NumberedFormat, GivesEachRankItsRowsInOrder) {
  Write({9, 0, 1, 12});
  for (uint64_t world = 1; world <= 7; ++world) {
    for (uint64_t rank = 0; rank < world; ++rank) {
      std::vector<std::string> expected;
      for (size_t row = rank; row < rows_.size(); row += world) expected.push_back(rows_[row]);
      for (const uint64_t epoch : {0, 1}) {
        EXPECT_EQ(TextsOf(Source(), {rank, world}, epoch), expected) << rank << "/" << world << ", epoch " << epoch;
      }
    }
  }
}

TEST_P(NumberedFormat, GivesEachRowOnceToAnyRanksOfAShuffle) {
  Write({9, 0, 1, 12});
  for (uint64_t world = 1; world <= 7; ++world) {
    std::vector<std::string> all;
    for (uint64_t rank = 0; rank < world; ++rank) {
      const std::vector<std::string> part = TextsOf(Shuffled(), {rank, world}, 1);
      all.insert(all.end(), part.begin(), part.end());
    }
    EXPECT_THAT(all, UnorderedElementsAreArray(rows_)) << world;
  }
}

TEST_P(NumberedFormat, NumbersItsRows) {
  Write({9, 0, 1, 12});
  const Ran ran = RunEveryWay(Shuffled());
  EXPECT_EQ(ran.cardinality, Cardinality::Of(rows_.size()));
  EXPECT_NE(ran.Texts(0), ran.Texts(1));
  for (const RanRow& row : ran.rows) {
    ASSERT_LT(row.id.key, rows_.size());
    EXPECT_EQ(row.text, rows_[row.id.key]);
  }
}

TEST_P(NumberedFormat, GivesEvenRanks) {
  Write({9, 0, 1, 12});
  for (uint64_t world = 1; world <= 7; ++world) {
    for (const auto even : {ShardAssignment::Even::kPad, ShardAssignment::Even::kDrop}) {
      const bool pad = even == ShardAssignment::Even::kPad;
      const size_t each = pad ? (rows_.size() + world - 1) / world : rows_.size() / world;
      for (uint64_t rank = 0; rank < world; ++rank) {
        EXPECT_EQ(TextsOf(Shuffled(), {rank, world, 0, even}, 0).size(), each) << rank << "/" << world;
      }
    }
  }
}

// RunEveryWay stops after each row and goes on from there.
TEST_P(NumberedFormat, GoesOnExactlyOnEveryRank) {
  Write({7, 6});
  for (const uint64_t world : {uint64_t{1}, uint64_t{3}}) {
    std::vector<std::string> all;
    for (const Ran& rank : RunRanks(Shuffled(), world)) {
      for (const std::string& text : rank.Texts(1)) all.push_back(text);
    }
    EXPECT_THAT(all, UnorderedElementsAreArray(rows_)) << world;
  }
}

// The keys of the rows that an iteration gives until the epoch ends.
std::vector<uint64_t> KeysOf(const ir::proto::Graph& graph, IterateOptions options) {
  auto iteration = Iteration::Start(graph, std::move(options));
  std::vector<uint64_t> keys;
  if (!iteration.ok()) ADD_FAILURE() << DescribeError(iteration.status());
  if (!iteration.ok()) return keys;
  ResultRow row;
  while (true) {
    const auto outcome = (*iteration)->Fetch(kTestPatience, row);
    if (!outcome.ok()) ADD_FAILURE() << DescribeError(outcome.status());
    if (!outcome.ok() || *outcome != Pipeline::Outcome::kRow) return keys;
    (*iteration)->Given();
    keys.push_back(row.id.key);
  }
}

TEST_P(NumberedFormat, GoesOnWithOtherRanks) {
  Write({7, 6});
  const ir::proto::Graph graph = *Shuffled().Build();
  const std::vector<uint64_t> whole = [&] {
    IterateOptions options;
    options.pull = true;
    options.seed = 7;
    return KeysOf(graph, std::move(options));
  }();
  ASSERT_EQ(whole.size(), rows_.size());
  for (int rows = 1; rows < static_cast<int>(whole.size()); ++rows) {
    const proto::State state = StateAfter(graph, rows);
    for (uint64_t world = 1; world <= 7; world += 3) {
      std::vector<uint64_t> rest;
      for (uint64_t rank = 0; rank < world; ++rank) {
        IterateOptions options = FromState(state);
        options.rank = rank;
        options.world = world;
        const std::vector<uint64_t> part = KeysOf(graph, std::move(options));
        rest.insert(rest.end(), part.begin(), part.end());
      }
      EXPECT_THAT(rest, UnorderedElementsAreArray(whole.begin() + rows, whole.end())) << rows << ", " << world;
    }
  }
}

TEST_P(NumberedFormat, HasStatesOfOneSize) {
  Write({300, 300});
  const ir::proto::Graph graph = *Shuffled().Build();
  const int first = StateAfter(graph, 1).checkpoint_size();
  for (const int rows : {2, 17, 299, 599}) EXPECT_EQ(StateAfter(graph, rows).checkpoint_size(), first) << rows;
  EXPECT_LT(StateAfter(graph, 599).ByteSizeLong(), 1024u);
}

// Beyond what finds the rows, a rank reads the bytes of its own and little beside them.
TEST_P(NumberedFormat, ReadsItsOwnRows) {
  constexpr int64_t kRecord = 20'000;
  constexpr int64_t kBeside = 2048;  // a row: its frame, what else its piece has, and what is read between two
  Write({14, 10}, kRecord);
  const auto read = [&](ShardAssignment shard) {
    const CountedReads files(LocalFileSystem());
    RunSpec spec;
    spec.epochs = 1;
    spec.shard = shard;
    PipelineOptions options = OptionsOf(spec);
    options.files = &files;
    options.writes = false;
    const absl::StatusOr<Ran> ran = RunOnce(*Shuffled().Build(), std::move(options));
    EXPECT_TRUE(ran.ok() && ran->error.ok());
    return files.bytes();
  };
  const auto rows = static_cast<int64_t>(rows_.size());
  const int64_t finding = read({static_cast<uint64_t>(rows), static_cast<uint64_t>(rows) + 1});
  EXPECT_LE(finding, rows * (kRecord + kBeside));
  for (const int64_t world : {1, 4, 7}) {
    for (int64_t rank = 0; rank < world; ++rank) {
      const int64_t own = (rows - rank - 1) / world + 1;
      const int64_t bytes = read({static_cast<uint64_t>(rank), static_cast<uint64_t>(world)}) - finding;
      EXPECT_GE(bytes, own * kRecord) << rank << "/" << world;
      EXPECT_LE(bytes, own * (kRecord + kBeside)) << rank << "/" << world;
    }
  }
}

}  // namespace
}  // namespace headrace
