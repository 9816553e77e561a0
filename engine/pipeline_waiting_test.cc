// Who reads a pipeline's files.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include "engine/pipeline.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "engine/worker_pool.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using Outcome = Pipeline::Outcome;

constexpr auto kPatience = std::chrono::seconds(60);

// Keeps every thread of a pool from working for anybody else while it lives.
class PoolHold {
 public:
  explicit PoolHold(WorkerPool& pool) : pool_(pool) {
    while (static_cast<int>(holders_.size()) < pool.threads()) pool.Signal(&holders_.emplace_back(*this));
    while (held_.load() < static_cast<int>(holders_.size())) std::this_thread::yield();
  }
  ~PoolHold() {
    over_.store(true);
    over_.notify_all();
    for (Holder& holder : holders_) pool_.Remove(&holder);
  }

 private:
  struct Holder : PoolClient {
    explicit Holder(PoolHold& hold) : hold(hold) {}
    bool RunOne() override {
      hold.held_.fetch_add(1);
      hold.over_.wait(false);
      return false;
    }
    PoolHold& hold;
  };

  WorkerPool& pool_;
  std::deque<Holder> holders_;
  std::atomic<int> held_{0};
  std::atomic<bool> over_{false};
};

// More rows than can have been read ahead, in order. False: they did not come.
bool TakesRows(Pipeline& pipeline, std::chrono::nanoseconds limit, int64_t rows, int64_t& value) {
  ResultRow row;
  for (; rows > 0; --rows) {
    if (*pipeline.Next(limit, row) != Outcome::kRow) return false;
    EXPECT_EQ(CheckedValue(row), value++);
  }
  return true;
}

TEST(PipelineReading, TheUsersThreadReadsWhatLiesInMemoryWhileItWaits) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(1'000'000)}, {"io", BoolValue(true)}});
  const auto pipeline = Pipeline::Make(graph.Build(), PipelineOptions{});
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  int64_t value = 0;
  bool taken = false;
  // Tries again where a thread was held up so long that reads seemed to come from a disk.
  for (int attempt = 0; attempt < 20 && !taken; ++attempt) {
    ASSERT_TRUE(TakesRows(**pipeline, kPatience, 1000, value));
    const PoolHold hold(WorkerPool::Io());
    taken = TakesRows(**pipeline, std::chrono::seconds(1), 1000, value);
  }
  EXPECT_TRUE(taken);
  // Those who are free again go on.
  EXPECT_TRUE(TakesRows(**pipeline, kPatience, 1000, value));
}

}  // namespace
}  // namespace headrace
