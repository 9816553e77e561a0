// Of sources that read far files: hundreds of reads are outstanding with few threads, and what comes out is what local
// files would give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/testing/patience.h"
#include "io/files/far_listings.h"
#include "io/files/testing/memory_store.h"
#include "ir/graph.pb.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

constexpr int kObjects = 1500;
constexpr int kMostFarReads = 512;

std::string ObjectName(int i) {
  const std::string digits = Cat(10'000 + i);
  return Cat("mem://bucket/", digits, ".bin");
}

std::string ObjectBytes(int i) { return Cat("object ", i, std::string(static_cast<size_t>(i % 97), '.')); }

int64_t CountThreads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

class FarReads : public ::testing::Test {
 protected:
  explicit FarReads(MemoryStore::Completes completes = MemoryStore::Completes::kOnDemand)
      : store_({.completes = completes}) {
    for (int i = 0; i < kObjects; ++i) store_.Put(ObjectName(i), ObjectBytes(i));
  }
  ~FarReads() override { StopCompleting(); }

  absl::StatusOr<std::unique_ptr<Pipeline>> Start(PipelineOptions options = {}) {
    options.files = listings_.Over(&store_);
    GraphBuilder builder;
    builder.Add("Files", {}, {{"patterns", ir::StringsValue({"mem://bucket/*.bin"})}});
    return Pipeline::Make(*builder.Build(), std::move(options));
  }
  // Takes rows, and completes reads, the oldest first, whenever nothing else happens, until so many are outstanding.
  void CompleteUntil(Pipeline& pipeline, size_t outstanding) {
    const auto until = std::chrono::steady_clock::now() + kTestPatience;
    ResultRow row;
    while (store_.outstanding() < outstanding) {
      ASSERT_LT(std::chrono::steady_clock::now(), until);
      const size_t seen = store_.outstanding();
      bool rests = true;
      for (int i = 0; i < 2000 && rests; ++i) {
        std::this_thread::yield();
        rests = store_.outstanding() == seen;
      }
      if (rests) store_.CompleteOne();
      while (*pipeline.Next(std::chrono::seconds(0), row) == Pipeline::Outcome::kRow) {
      }
    }
  }
  // From now on completes reads as they come, the `which`-th oldest first.
  void Complete(size_t which = 0) {
    completing_ = true;
    completer_ = std::thread([this, which] {
      while (completing_) {
        if (!store_.CompleteOne(which)) std::this_thread::yield();
      }
    });
  }
  void StopCompleting() {
    completing_ = false;
    if (completer_.joinable()) completer_.join();
  }
  static std::string TextOf(const ResultRow& row) { return std::string(row.columns[1].bytes_value()); }
  static void ExpectAll(Pipeline& pipeline) {
    ResultRow row;
    for (int i = 0; i < kObjects; ++i) {
      ASSERT_EQ(*pipeline.Next(kTestPatience, row), Pipeline::Outcome::kRow);
      ASSERT_EQ(TextOf(row), ObjectBytes(i));
    }
  }

  MemoryStore store_;
  FarListings listings_;
  std::atomic<bool> completing_{false};
  std::thread completer_;
};

TEST_F(FarReads, HundredsAreOutstandingWithFewThreads) {
  PipelineOptions options;
  options.epochs = {0, 1'000'000};
  auto pipeline = Start(options);
  ASSERT_TRUE(pipeline.ok()) << DescribeError(pipeline.status());
  const int64_t base = CountThreads();
  CompleteUntil(**pipeline, kMostFarReads);
  EXPECT_LE(CountThreads() - base, 4);
  EXPECT_EQ(store_.most(), kMostFarReads);
  EXPECT_EQ(store_.count(MemoryStore::Kind::kStat), 0) << "of single files";
}

// The first rows say little of how many bytes the next ones take.
TEST_F(FarReads, RiseWithTheRowsThatCame) {
  auto pipeline = Start();
  ASSERT_TRUE(pipeline.ok());
  store_.WaitFor(1);
  EXPECT_EQ(store_.most(), 1u);
  store_.CompleteOne();
  store_.WaitFor(32);
  EXPECT_EQ(store_.most(), 32u);
}

TEST_F(FarReads, ComeInOrderWhateverTheStoreDoes) {
  auto pipeline = Start();
  ASSERT_TRUE(pipeline.ok());
  Complete(7);
  ExpectAll(**pipeline);
}

TEST_F(FarReads, AreNoMoreThanTheUserAsksFor) {
  PipelineOptions options;
  options.workers = 8;
  auto pipeline = Start(options);
  ASSERT_TRUE(pipeline.ok());
  Complete();
  ExpectAll(**pipeline);
  EXPECT_LE(store_.most(), 8u);
}

TEST_F(FarReads, TakeNoMoreThanTheBudget) {
  store_.Put(ObjectName(0), std::string(40'000, 'x'));
  PipelineOptions options;
  options.memory = 400'000;
  auto pipeline = Start(options);
  ASSERT_TRUE(pipeline.ok());
  Complete();
  ResultRow row;
  for (int i = 0; i < kObjects; ++i) ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), Pipeline::Outcome::kRow);
  EXPECT_LE(store_.most(), 8u) << "of objects as large as the largest so far";
}

TEST_F(FarReads, EndWhenThePipelineIsClosed) {
  auto pipeline = Start();
  ASSERT_TRUE(pipeline.ok());
  CompleteUntil(**pipeline, 100);
  pipeline->reset();
  // What completes now goes nowhere.
  store_.CompleteAll();
}

TEST_F(FarReads, FailAtTheRowThatFails) {
  auto pipeline = Start();
  ASSERT_TRUE(pipeline.ok());
  store_.Drop(ObjectName(700));
  Complete(3);
  ResultRow row;
  for (int i = 0; i < 700; ++i) {
    ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), Pipeline::Outcome::kRow);
    ASSERT_EQ(TextOf(row), ObjectBytes(i));
  }
  const absl::Status failed = (*pipeline)->Next(kTestPatience, row).status();
  EXPECT_THAT(DescribeError(failed), HasSubstr(ObjectName(700)));
}

TEST_F(FarReads, AreReadByThisThreadWhereThereAreNoOthers) {
  PipelineOptions options;
  options.pull = true;
  auto pipeline = Start(options);
  ASSERT_TRUE(pipeline.ok());
  Complete();
  ExpectAll(**pipeline);
}

// As stores that Python brings, which read on threads.
TEST(FarReadsOfASlowStore, BufferRowsForAPauseOfTheNetwork) {
  MemoryStore store({.most_outstanding = 16});
  for (int i = 0; i < kObjects; ++i) store.Put(ObjectName(i), ObjectBytes(i));
  PipelineOptions options;
  options.files = &store;
  GraphBuilder builder;
  builder.Add("Files", {}, {{"patterns", ir::StringsValue({"mem://bucket/*.bin"})}});
  auto pipeline = Pipeline::Make(*builder.Build(), std::move(options));
  ASSERT_TRUE(pipeline.ok()) << DescribeError(pipeline.status());
  EXPECT_EQ((*pipeline)->report().stages.back().window, 512);
}

// As HDFS is.
TEST(FarReadsWithoutConditions, CompareVersionsAtTheEndOfAnEpoch) {
  MemoryStore store({.conditional = false});
  store.Put("mem://bucket/a.txt", "one\ntwo\n");
  FarListings listings;
  PipelineOptions options;
  options.files = listings.Over(&store);
  options.pull = true;
  GraphBuilder builder;
  builder.Add("Text", {}, {{"patterns", ir::StringsValue({"mem://bucket/*.txt"})}});
  auto pipeline = Pipeline::Make(*builder.Build(), std::move(options));
  ASSERT_TRUE(pipeline.ok()) << DescribeError(pipeline.status());
  ResultRow row;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), Pipeline::Outcome::kRow);
  store.Put("mem://bucket/a.txt", "eno\nowt\n");
  EXPECT_THAT(DescribeError((*pipeline)->Next(kTestPatience, row).status()), HasSubstr("mem://bucket/a.txt"));
}

}  // namespace
}  // namespace headrace
