// What holds of every format whatever the file system does: reads that complete in another order give the same rows,
// neither the size of blocks nor that of messages changes a row, and a call that fails ends the run with its error,
// after right rows alone. A format joins by an entry in AllFormats() (ops/source/testing/source_format.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/testing/rounds.h"
#include "io/files/testing/delayed_file_system.h"
#include "io/files/testing/faulty_file_system.h"
#include "ir/graph.pb.h"
#include "ir/passes/group_rows.h"
#include "ops/source/testing/source_format.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

const int kCallsApart = static_cast<int>(OneIn({.quick = 3, .sanitized = 3}));

class FaultyFiles : public FormatTest {
 protected:
  static PipelineOptions OneEpoch(const FileSystem* files = LocalFileSystem()) {
    RunSpec spec;
    spec.epochs = 1;
    PipelineOptions options = OptionsOf(spec);
    options.files = files;
    options.writes = false;
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(All, FaultyFiles, ::testing::ValuesIn(AllFormats()), NameOfFormat);

TEST_P(FaultyFiles, EndTheRunWithTheErrorOfTheirCall) {
  Write({6, 0, 5});
  const ir::proto::Graph graph = *Source().Build();
  int runs = 0;
  for (const bool threads : {false, true}) {
    bool failed = true;
    for (int nth = 0; failed; nth += kCallsApart) {
      ASSERT_LT(nth, 10'000) << "calls of two files";
      std::atomic<int> calls = 0;
      const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string& path) {
        return calls++ == nth ? DataError(call, " fails as told: ", path) : absl::OkStatus();
      });
      PipelineOptions options = OneEpoch(&files);
      options.pull = !threads;
      const absl::StatusOr<Ran> ran = RunOnce(graph, std::move(options));
      ++runs;
      failed = calls > nth;
      const absl::Status error = ran.ok() ? ran->error : ran.status();
      SCOPED_TRACE(Cat("call ", nth, threads ? ", threads" : ", pulled"));
      if (!error.ok()) {
        EXPECT_THAT(DescribeError(error), HasSubstr("fails as told"));
        EXPECT_THAT(DescribeError(error), HasSubstr(folder_.path()));
      }
      const std::vector<std::string> texts = ran.ok() ? ran->Texts() : std::vector<std::string>();
      ASSERT_LE(texts.size(), rows_.size());
      EXPECT_TRUE(std::equal(texts.begin(), texts.end(), rows_.begin()));
      // A call may be made for what a run can do without, such as an index beside the file.
      EXPECT_TRUE(!error.ok() || texts == rows_);
      EXPECT_TRUE(failed || error.ok());
    }
  }
  std::printf("HEADRACE-COUNT variants=%d\n", runs);
}

TEST_P(FaultyFiles, FailWithoutLossWhereRowsThatFailAreSkipped) {
  Write({6, 5});
  GraphBuilder builder = Source();
  builder.SkipFailed(1000);
  const ir::proto::Graph graph = *builder.Build();
  // A fault of the disk may pass: it is no property of a row, and no policy leaves out a row for it.
  std::atomic<int> reads = 0;
  const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
    return call == "ReadAt" && reads++ >= 2 ? BeyondRow(DataError("fails as told")) : absl::OkStatus();
  });
  const absl::StatusOr<Ran> ran = RunOnce(graph, OneEpoch(&files));
  const absl::Status error = ran.ok() ? ran->error : ran.status();
  const std::vector<std::string> texts = ran.ok() ? ran->Texts() : std::vector<std::string>();
  ASSERT_LE(texts.size(), rows_.size());
  EXPECT_TRUE(std::equal(texts.begin(), texts.end(), rows_.begin())) << "none is left out before the error";
  EXPECT_TRUE(texts == rows_ || !error.ok());
}

TEST_P(FaultyFiles, GiveTheSameRowsWhenReadsCompleteInAnyOrder) {
  Write({11, 0, 7, 1, 9, 8});
  const ir::proto::Graph graph = *Source().Build();
  for (const size_t step : {1, 2, 5}) {
    const DelayedFileSystem files(LocalFileSystem());
    PipelineOptions options = OneEpoch(&files);
    options.pull = false;
    options.workers = 4;
    absl::StatusOr<Ran> ran;
    std::atomic<bool> done{false};
    std::thread run([&] {
      ran = RunOnce(graph, std::move(options));
      done = true;
    });
    for (size_t which = 0; !done; which += step) {
      if (!files.CompleteOne(which)) std::this_thread::yield();
    }
    run.join();
    ASSERT_TRUE(ran.ok()) << DescribeError(ran.status());
    EXPECT_TRUE(ran->error.ok()) << DescribeError(ran->error);
    EXPECT_EQ(ran->Texts(), rows_);
  }
}

// Blocks are as long as the memory allows, at least 4 KiB; a message has as many rows as its group.
TEST_P(FaultyFiles, GiveTheSameRowsInBlocksOfAnySize) {
  Write({40, 0, 33}, 700);
  const ir::proto::Graph graph = *ir::GroupRows(*Source().Build());
  for (const int64_t kibibytes : {256, 1024, 4096, 65536}) {
    for (const int group : {1, 2, 3, 7, 64}) {
      PipelineOptions options = OneEpoch();
      options.memory = kibibytes << 10;
      options.group = group;
      const absl::StatusOr<Ran> ran = RunOnce(graph, std::move(options));
      ASSERT_TRUE(ran.ok()) << DescribeError(ran.status());
      EXPECT_TRUE(ran->error.ok()) << DescribeError(ran->error);
      EXPECT_EQ(ran->Texts(), rows_) << kibibytes << " KiB, " << group;
    }
  }
}

}  // namespace
}  // namespace headrace
