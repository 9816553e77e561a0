// What holds of every format that is read in splits: any ranks give each record once, any state goes on exactly, damage
// is named by file and byte, and neither the size of splits nor that of blocks changes a row. A format joins by an
// entry in SplitFormats() (ops/source/testing/source_format.h).
#include "ops/source/split_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/testing/rounds.h"
#include "engine/exec/iteration.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/delayed_file_system.h"
#include "ir/graph.pb.h"
#include "ops/source/testing/source_format.h"
#include "ops/testing/run_operator.h"
#include "ops/testing/state_run.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ir::StringValue;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

const uint64_t kManyRanks = Rounds(100, {.quick = 7, .sanitized = 7});
const int kWaysApart = OneIn({.quick = 3, .sanitized = 3});

class SplitFormat : public FormatTest {
 protected:
  // All choices of four attributes; in thinned runs and under sanitizers a third of them, in which each two choices
  // still meet.
  static std::vector<GraphBuilder::Given> Ways() {
    constexpr int64_t kSplitBytes[] = {9, 50, 1 << 20};
    constexpr const char* kShardings[] = {"rows", "splits", "contiguous"};
    std::vector<GraphBuilder::Given> ways;
    for (int way = 0; way < 36; ++way) {
      const int shuffle = way / 18;
      const int interleave = way / 9 % 2;
      const int bytes = way / 3 % 3;
      const int sharding = way % 3;
      if ((shuffle + interleave + bytes + sharding) % kWaysApart != 0) continue;
      ways.push_back({{"shuffle", BoolValue(shuffle == 1)},
                      {"interleave", IntValue(interleave == 1 ? 3 : 1)},
                      {"split_bytes", IntValue(kSplitBytes[bytes])},
                      {"sharding", StringValue(kShardings[sharding])}});
    }
    return ways;
  }
};

INSTANTIATE_TEST_SUITE_P(All, SplitFormat, ::testing::ValuesIn(SplitFormats()), NameOfFormat);
INSTANTIATE_TEST_SUITE_P(Compressed, SplitFormat, ::testing::ValuesIn(CompressedFormats()), NameOfFormat);

TEST_P(SplitFormat, GivesEachRecordOnceToAnyRanks) {
  Write({20, 0, 1, 37});
  for (const GraphBuilder::Given& way : Ways()) {
    for (const uint64_t world : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{5}, kManyRanks}) {
      for (const uint64_t epoch : {0, 1}) {
        std::vector<std::string> all;
        for (uint64_t rank = 0; rank < world; ++rank) {
          const std::vector<std::string> part = TextsOf(Source(way), {rank, world}, epoch);
          all.insert(all.end(), part.begin(), part.end());
        }
        ASSERT_THAT(all, UnorderedElementsAreArray(rows_)) << world;
      }
    }
  }
}

// Every `world`-th row of a stream, or the files of every `world`-th number, in the order of the listing.
TEST_P(SplitFormat, GivesEachRankItsRowsInOrder) {
  Write({9, 1, 12, 3, 5});
  for (uint64_t world = 1; world <= 7; ++world) {
    std::vector<std::string> runs;
    for (uint64_t rank = 0; rank < world; ++rank) {
      std::vector<std::string> every;
      for (size_t row = rank; row < rows_.size(); row += world) every.push_back(rows_[row]);
      EXPECT_EQ(TextsOf(Source({{"sharding", StringValue("rows")}}), {rank, world}, 0), every) << rank << "/" << world;
      std::vector<std::string> files;
      for (size_t file = rank; file < records_.size(); file += world) {
        for (const std::string& record : records_[file]) files.push_back(GetParam().row(record));
      }
      const GraphBuilder splits = Source({{"sharding", StringValue("splits")}, {"split_bytes", IntValue(1 << 20)}});
      EXPECT_EQ(TextsOf(splits, {rank, world}, 0), files) << rank << "/" << world;
      if (GetParam().whole_files) continue;
      const auto run = TextsOf(Source({{"sharding", StringValue("contiguous")}}), {rank, world}, 0);
      runs.insert(runs.end(), run.begin(), run.end());
    }
    EXPECT_TRUE(GetParam().whole_files || runs == rows_) << world;
  }
}

// A state says where each reader is, however many rows were read.
TEST_P(SplitFormat, HasStatesOfOneSize) {
  Write({300, 300, 300});
  const ir::proto::Graph graph = *Source({{"interleave", IntValue(2)}, {"split_bytes", IntValue(900)}}).Build();
  const int first = StateAfter(graph, 1).checkpoint_size();
  for (const int rows : {16, 17, 450, 899}) EXPECT_EQ(StateAfter(graph, rows).checkpoint_size(), first) << rows;
  EXPECT_LT(StateAfter(graph, 899).ByteSizeLong(), 4096u);
}

TEST_P(SplitFormat, GivesTheSameRowsInEveryWayAndFromEveryState) {
  Write({15, 0, 1, 20});
  for (const GraphBuilder::Given& way : Ways()) {
    const Ran ran = RunEveryWay(Source(way));
    EXPECT_THAT(ran.Texts(1), UnorderedElementsAreArray(rows_));
    std::set<uint64_t> keys;
    for (const uint64_t key : ran.Keys(1)) keys.insert(key);
    EXPECT_EQ(keys.size(), rows_.size()) << "a key is one record";
  }
}

TEST_P(SplitFormat, GoesOnExactlyOnEveryRank) {
  Write({15, 9});
  for (const char* sharding : {"rows", "splits", "contiguous"}) {
    for (uint64_t rank = 0; rank < 3; ++rank) {
      RunSpec spec;
      spec.shard = {rank, 3};
      spec.threaded_restart_every = 20;
      RunEveryWay(Source({{"sharding", StringValue(sharding)},
                          {"shuffle", BoolValue(true)},
                          {"interleave", IntValue(2)},
                          {"split_bytes", IntValue(40)}}),
                  spec);
    }
  }
}

TEST_P(SplitFormat, KeepsTheOrderOfTheListingUnlessItIsShuffled) {
  Write({15, 0, 1, 200, 9, 12, 30});
  for (const int64_t split_bytes : {1, 70, 1 << 20}) {
    const auto in_order = TextsOf(Source({{"split_bytes", IntValue(split_bytes)}}), {}, 0);
    EXPECT_EQ(in_order, rows_);
  }
  const GraphBuilder shuffled = Source({{"shuffle", BoolValue(true)}, {"split_bytes", IntValue(70)}});
  EXPECT_NE(TextsOf(shuffled, {}, 0), TextsOf(shuffled, {}, 1));
  EXPECT_NE(TextsOf(shuffled, {}, 0), rows_);
}

TEST_P(SplitFormat, GivesSixteenRowsInTurn) {
  Write({40, 5, 20, 3});
  const std::vector<std::string> rows = TextsOf(Source({{"interleave", IntValue(2)}}), {}, 0);
  // Two readers; the one that is done takes the next file within its turn.
  std::vector<std::string> expected;
  const auto take = [&](int first, int count) {
    expected.insert(expected.end(), rows_.begin() + first, rows_.begin() + first + count);
  };
  take(0, 16);   // file 0
  take(40, 5);   // file 1,
  take(45, 11);  // and file 2
  take(16, 16);
  take(56, 9);
  take(65, 3);  // file 3
  take(32, 8);
  EXPECT_EQ(rows, expected);
}

// A rank reads its own bytes, and at each border at most one block and one record more.
TEST_P(SplitFormat, ReadsOnlyTheBytesOfItsSplits) {
  if (GetParam().whole_files) GTEST_SKIP() << "the next test is for its files";
  Write({20'000});
  constexpr int64_t kBorder = 4096 + 64;
  constexpr int64_t kSplit = 20'000;
  const auto read = [&](const char* sharding, ShardAssignment shard) {
    const CountedReads files(LocalFileSystem());
    RunSpec spec;
    spec.epochs = 1;
    spec.shard = shard;
    PipelineOptions options = OptionsOf(spec);
    options.files = &files;
    const GraphBuilder builder = Source({{"sharding", StringValue(sharding)}, {"split_bytes", IntValue(kSplit)}});
    EXPECT_TRUE(RunOnce(*builder.Build(), std::move(options))->error.ok());
    return files.bytes();
  };
  const int64_t all = read("rows", {0, 1});
  EXPECT_GT(all, 300'000);
  const int64_t splits = (all - 1) / kSplit + 1;
  for (const int64_t world : {4, 7}) {
    for (int64_t rank = 0; rank < world; ++rank) {
      const ShardAssignment shard{static_cast<uint64_t>(rank), static_cast<uint64_t>(world)};
      EXPECT_EQ(read("rows", shard), all);
      const int64_t own = (splits - rank - 1) / world + 1;
      EXPECT_LE(read("splits", shard), own * (kSplit + kBorder)) << rank;
      EXPECT_LE(read("contiguous", shard), all / world + 4 + kBorder) << rank;
    }
  }
}

TEST_P(SplitFormat, ReadsOnlyItsFiles) {
  if (!GetParam().whole_files) GTEST_SKIP() << "its files are cut";
  Write({2000, 30, 500});
  const auto read = [&](const char* sharding, ShardAssignment shard) {
    const CountedReads files(LocalFileSystem());
    RunSpec spec;
    spec.epochs = 1;
    spec.shard = shard;
    PipelineOptions options = OptionsOf(spec);
    options.files = &files;
    EXPECT_TRUE(RunOnce(*Source({{"sharding", StringValue(sharding)}}).Build(), std::move(options))->error.ok());
    return files.bytes();
  };
  const int64_t all = read("rows", {0, 1});
  int64_t together = 0;
  for (const uint64_t rank : {0, 1, 2, 3}) {
    EXPECT_EQ(read("rows", {rank, 4}), all);
    together += read("splits", {rank, 4});
  }
  EXPECT_EQ(together, all);
  EXPECT_EQ(read("splits", {3, 4}), 0);
}

// As dmlc-core's InputSplit gives them: each part begins at the first record from its share of all bytes on.
TEST_P(SplitFormat, GivesTheRunsOfBytesOfInputSplit) {
  if (GetParam().whole_files) GTEST_SKIP() << "its files are not cut";
  const std::vector<std::vector<std::string>> files = {{"one", "three", "", "five"}, {"six"}, {"seven", "eight"}};
  const PartBorders borders = GetParam().borders;
  struct Begin {
    int64_t byte;
    bool first;  // of its file
    std::string row;
  };
  std::vector<Begin> begins;
  int64_t total = 0;
  for (size_t file = 0; file < files.size(); ++file) {
    std::string bytes;
    for (const std::string& record : files[file]) {
      begins.push_back({total + static_cast<int64_t>(bytes.size()), bytes.empty(), GetParam().row(record)});
      bytes += GetParam().encode({record}, {});
    }
    total += static_cast<int64_t>(bytes.size());
    folder_.Write(Cat("f", file), bytes);
  }
  const int64_t apart = OneIn({.quick = 5, .sanitized = 5});
  for (int64_t world = 1; world < total + 3; world += apart) {
    const int64_t share = (total + world - 1) / world;
    const int64_t step = (share + borders.alignment - 1) / borders.alignment * borders.alignment;
    for (int64_t rank = 0; rank < world; ++rank) {
      std::vector<std::string> expected;
      for (const Begin& begin : begins) {
        const int64_t byte = borders.to_part_before && !begin.first ? begin.byte - 1 : begin.byte;
        if (byte / step == rank) expected.push_back(begin.row);
      }
      const ShardAssignment shard{static_cast<uint64_t>(rank), static_cast<uint64_t>(world)};
      ASSERT_EQ(TextsOf(Source({{"sharding", StringValue("contiguous")}}), shard, 0), expected) << rank << "/" << world;
    }
  }
}

TEST_P(SplitFormat, NamesTheFileAndTheByteOfDamage) {
  if (GetParam().damage.empty()) GTEST_SKIP() << "nothing follows its last record";
  Write({10, 10});
  const std::string good = GetParam().encode({"one", "two"}, {});
  const std::string path = folder_.Write("f1", good + GetParam().damage);
  for (const GraphBuilder::Given& way : Ways()) {
    const Ran ran = RunEveryWay(Source(way));
    EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
    EXPECT_EQ(GetErrorField(ran.error, ErrorField::kFile), Cat(path, ", byte ", good.size()));
  }
}

TEST_P(SplitFormat, GoesOnBehindDamageThatIsSkipped) {
  if (GetParam().damage.empty()) GTEST_SKIP() << "nothing follows its last record";
  if (!GetParam().damage_is_a_row) GTEST_SKIP() << "its damage is between rows; see the attribute `damage`";
  Write({10, 10});
  const std::string path =
      folder_.Write("f1", GetParam().encode({"one", "two"}, {}) + GetParam().damage + GetParam().encode({"three"}, {}));
  std::vector<std::string> expected(rows_.begin(), rows_.begin() + 10);
  for (const char* record : {"one", "two", "three"}) expected.push_back(GetParam().row(record));
  for (const GraphBuilder::Given& way : Ways()) {
    GraphBuilder builder = Source(way);
    builder.SkipFailed(10);
    const Ran ran = RunEveryWay(builder);
    EXPECT_TRUE(ran.error.ok()) << ran.error;
    EXPECT_THAT(ran.Texts(1), UnorderedElementsAreArray(expected));
  }
}

TEST_P(SplitFormat, KeepsReadsOutstandingForSplitsThatComeNext) {
  Write({50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50});
  const DelayedFileSystem files(LocalFileSystem());
  PipelineOptions options = OptionsOf({});
  options.files = &files;
  options.epochs = {0, 0};
  const GraphBuilder builder = Source({{"interleave", IntValue(4)}});
  absl::StatusOr<Ran> ran;
  std::atomic<bool> done{false};
  std::thread run([&] {
    ran = RunOnce(*builder.Build(), std::move(options));
    done = true;
  });
  // Four splits are asked for before anything has come.
  files.WaitFor(4);
  for (size_t which = 0; !done; which += 3) {
    if (!files.CompleteOne(which)) std::this_thread::yield();
  }
  run.join();
  ASSERT_TRUE(ran.ok() && ran->error.ok());
  EXPECT_THAT(ran->Texts(), UnorderedElementsAreArray(rows_));
}

TEST_P(SplitFormat, RefusesAStateOfAnotherWorldWhereSplitsAreSharded) {
  Write({20, 20});
  const auto refusal = [&](const char* sharding) -> absl::Status {
    const ir::proto::Graph graph = *Source({{"sharding", StringValue(sharding)}}).Build();
    IterateOptions options = FromState(StateAfter(graph, 5));
    options.rank = 1;
    options.world = 2;
    return Iteration::Start(graph, std::move(options)).status();
  };
  EXPECT_TRUE(refusal("rows").ok());
  for (const char* sharding : {"splits", "contiguous"}) {
    EXPECT_EQ(KindOf(refusal(sharding)), ErrorKind::kState);
    EXPECT_THAT(refusal(sharding).message(), HasSubstr(GetParam().op));
  }
}

TEST_P(SplitFormat, RefusesEvenRanks) {
  Write({20});
  RunSpec spec;
  spec.shard = {0, 2, 0, ShardAssignment::Even::kPad};
  EXPECT_THAT(Refusal(Source(), spec), HasSubstr("even="));
}

TEST_P(SplitFormat, SurvivesAnyState) {
  Write({20, 20});
  const ir::proto::Graph graph = *Source({{"interleave", IntValue(3)}, {"split_bytes", IntValue(90)}}).Build();
  const proto::State state = StateAfter(graph, 20);
  for (int counter = 0; counter < state.checkpoint_size(); ++counter) {
    for (const uint64_t value :
         {uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{500}, uint64_t{1} << 62, ~uint64_t{0}}) {
      proto::State other = state;
      other.set_checkpoint(counter, value);
      const absl::Status status = ReadAll(Iteration::Start(graph, FromState(other)), 100);
      EXPECT_TRUE(status.ok() || KindOf(status) != ErrorKind::kInternal) << counter << ", " << value << ": " << status;
    }
  }
}

}  // namespace
}  // namespace headrace
