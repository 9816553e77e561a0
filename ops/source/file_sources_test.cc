// Of all sources that read files: they read from the file system that the pipeline was given, and ahead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "core/error.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "ir/declaration.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

std::map<std::string, GraphBuilder::Given> Sources(const TemporaryFolder& folder) {
  const ir::proto::Value pattern = ir::StringsValue({folder / "class/*.jpg"});
  return {{"Files", {{"patterns", pattern}}},
          {"Text", {{"patterns", pattern}}},
          {"ImageFolder", {{"root", ir::StringValue(folder.path())}}}};
}

TEST(FileSources, AreAllHere) {
  const TemporaryFolder folder;
  for (const ir::Declaration* declaration : ir::Registry::Global().All()) {
    if (!declaration->traits.file_io) continue;
    EXPECT_EQ(Sources(folder).count(declaration->name), 1u) << declaration->name;
  }
}

TEST(FileSources, ReadFromThePipelinesFileSystem) {
  TemporaryFolder folder;
  folder.Write("class/a.jpg", "a");
  for (const auto& [op, given] : Sources(folder)) {
    std::set<std::string> calls;
    const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
      calls.emplace(call);
      return call == "Read" || call == "ReadAt" ? DataError("as told") : absl::OkStatus();
    });
    GraphBuilder builder;
    builder.Add(op, {}, given);
    PipelineOptions options = OptionsOf({});
    options.files = &files;
    const absl::StatusOr<Ran> ran = RunOnce(*builder.Build(), options);
    ASSERT_TRUE(ran.ok()) << op;
    EXPECT_THAT(DescribeError(ran->error), HasSubstr("as told")) << op;
    EXPECT_THAT(calls, Contains("List")) << op;
  }
}

// Files that the pipeline reads, and what stands before each read.
class ReadsAhead : public ::testing::Test {
 protected:
  ReadsAhead() {
    for (int i = 0; i < kFiles; ++i) folder_.Write(Cat(i, ".bin"), std::string(kBytes, 'x'));
  }
  absl::StatusOr<std::unique_ptr<Pipeline>> Start(PipelineOptions options, FaultyFileSystem::Before before) {
    files_ = std::make_unique<FaultyFileSystem>(LocalFileSystem(), std::move(before));
    options.files = files_.get();
    GraphBuilder builder;
    builder.Add("Files", {}, {{"patterns", ir::StringsValue({folder_ / "*.bin"})}});
    return Pipeline::Make(*builder.Build(), std::move(options));
  }
  static void TakeAll(Pipeline& pipeline) {
    ResultRow row;
    for (int i = 0; i < kFiles; ++i) ASSERT_EQ(*pipeline.Next(kPatience, row), Pipeline::Outcome::kRow);
  }
  static StageReport Source(Pipeline& pipeline) { return pipeline.report().stages.back(); }

  static constexpr int kFiles = 400;
  static constexpr size_t kBytes = 20'000;
  static constexpr std::chrono::seconds kPatience{60};
  TemporaryFolder folder_;
  std::unique_ptr<FaultyFileSystem> files_;
};

TEST_F(ReadsAhead, AsManyAsTheUserAsksFor) {
  // Lets no read but the first, which is made alone, end before 64 are outstanding.
  std::mutex mutex;
  std::condition_variable all;
  int reads = 0;
  PipelineOptions options;
  options.workers = 100;
  options.window = kFiles;  // enough for tasks of several quick reads
  auto pipeline = Start(options, [&](std::string_view call, const std::string&) {
    std::unique_lock<std::mutex> lock(mutex);
    if (call != "Read" || ++reads == 1) return absl::OkStatus();
    all.notify_all();
    const bool met = all.wait_for(lock, kPatience, [&] { return reads > ReadAhead::kMost; });
    return met ? absl::OkStatus() : DataError("too few reads are outstanding");
  });
  ASSERT_TRUE(pipeline.ok());
  TakeAll(**pipeline);
  EXPECT_EQ(Source(**pipeline).widest, static_cast<uint64_t>(ReadAhead::kMost));
  EXPECT_TRUE(Source(**pipeline).caps.empty());
}

TEST_F(ReadsAhead, MoreWhereTheDiskIsSlow) {
  PipelineOptions options;
  options.epochs = {0, 1'000'000};
  auto pipeline = Start(options, [](std::string_view call, const std::string&) {
    if (call == "Read") std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return absl::OkStatus();
  });
  ASSERT_TRUE(pipeline.ok());
  const auto until = std::chrono::steady_clock::now() + kPatience;
  ResultRow row;
  while (Source(**pipeline).widest <= static_cast<uint64_t>(ReadAhead::kFirst)) {
    ASSERT_TRUE((*pipeline)->Next(kPatience, row).ok());
    ASSERT_LT(std::chrono::steady_clock::now(), until);
  }
  EXPECT_GT(Source(**pipeline).caps.at(0).cap, ReadAhead::kFirst);
}

TEST_F(ReadsAhead, NoMoreThanTheMemoryAllows) {
  PipelineOptions options;
  options.workers = ReadAhead::kMost;
  options.memory = 8 * kBytes;
  std::atomic<int> reads{0};
  std::atomic<int> most{0};
  auto pipeline = Start(options, [&](std::string_view call, const std::string&) {
    if (call != "Read") return absl::OkStatus();
    const int now = ++reads;
    int seen = most;
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
    --reads;
    return absl::OkStatus();
  });
  ASSERT_TRUE(pipeline.ok());
  TakeAll(**pipeline);
  EXPECT_LE(most, 8);
  EXPECT_LE((*pipeline)->report().peak_bytes, options.memory);
}

}  // namespace
}  // namespace headrace
