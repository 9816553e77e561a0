#include "engine/exec/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "core/testing/rounds.h"
#include "engine/testing/cooperative_threads.h"
#include "engine/testing/eventually.h"
#include "engine/testing/schedule_lanes.h"
#include "engine/testing/schedule_pause.h"

namespace headrace {
namespace {

const int kWorkerPoolSchedules = Rounds(4000, {.quick = 400, .sanitized = 300});

// A flag that threads wait for without taking a core.
class Gate {
 public:
  void Open() {
    open_.store(true);
    open_.notify_all();
  }
  void Wait() const { open_.wait(false); }

 private:
  std::atomic<bool> open_{false};
};

// Work comes in units; each RunOne does one unit, if there is one.
class Counter : public PoolClient {
 public:
  explicit Counter(uint64_t cost = 0) : cost_(cost) {}

  bool RunOne() override {
    running_.fetch_add(1);
    const bool took = TakeOne();
    if (took) {
      if (pool_ != nullptr) pool_->BeginLongTask();
      PauseSchedule(cost_);
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++done_;
      }
      more_done_.notify_all();
      if (order_ != nullptr) order_->push_back(this);
      if (pool_ != nullptr) pool_->EndLongTask();
    }
    running_.fetch_sub(1);
    return took;
  }
  // Its tasks are long, and announce it to the pool.
  void Announce(WorkerPool* pool) { pool_ = pool; }

  void Add(int units) { waiting_.fetch_add(units); }
  int done() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return done_;
  }
  // Waits until so many units are done. False: a signal must be lost.
  bool WaitFor(int units) const {
    std::unique_lock<std::mutex> lock(mutex_);
    return more_done_.wait_for(lock, std::chrono::seconds(40), [&] { return done_ == units; });
  }
  int running() const { return running_.load(); }
  // Records whose turn it was; for pools of one thread.
  void WriteTo(std::vector<const Counter*>* order) { order_ = order; }

 private:
  bool TakeOne() {
    int waiting = waiting_.load();
    while (waiting > 0) {
      if (waiting_.compare_exchange_weak(waiting, waiting - 1)) return true;
    }
    return false;
  }

  const uint64_t cost_;
  std::atomic<int> waiting_{0};
  mutable std::mutex mutex_;
  mutable std::condition_variable more_done_;
  int done_ = 0;
  std::atomic<int> running_{0};
  std::vector<const Counter*>* order_ = nullptr;
  WorkerPool* pool_ = nullptr;
};

TEST(WorkerPool, LosesNoSignal) {
  RunInLanes(kWorkerPoolSchedules, [](int i, int /*lane*/) {
    SCOPED_TRACE(i);
    ScheduleRandom random(static_cast<uint64_t>(i));
    WorkerPool pool("test", 1 + static_cast<int>(random.Below(4)), 1 + static_cast<int>(random.Below(3)));
    std::vector<std::unique_ptr<Counter>> clients;
    for (uint64_t client = 0; client < 1 + random.Below(4); ++client) {
      clients.push_back(std::make_unique<Counter>(random.OneIn(3) ? random.Below(30) : 0));
      if (random.OneIn(2)) clients.back()->Announce(&pool);
    }
    constexpr int kUnits = 12;
    std::vector<std::thread> givers;
    for (uint64_t giver = 0; giver < 1 + random.Below(2); ++giver) {
      givers.emplace_back([&pool, &clients, seed = random.Below(1 << 30)] {
        ScheduleRandom own(seed);
        for (int unit = 0; unit < kUnits; ++unit) {
          for (auto& client : clients) {
            client->Add(1);
            if (own.OneIn(2)) {
              pool.Signal(client.get());
            } else {
              pool.PassOn(client.get());
            }
          }
          PauseSchedule(own.OneIn(3) ? own.Below(20) : 0);
        }
      });
    }
    if (random.OneIn(4)) pool.Grow(6);
    const int expected = kUnits * static_cast<int>(givers.size());
    for (std::thread& giver : givers) giver.join();
    for (auto& client : clients) {
      EXPECT_TRUE(client->WaitFor(expected)) << client->done() << " of " << expected;
      pool.Remove(client.get());
      EXPECT_EQ(client->running(), 0);
    }
  });
  std::printf("HEADRACE-COUNT schedules=%d\n", kWorkerPoolSchedules);
}

// The thread that runs the client looks again, but may take long: a signal gets another thread.
TEST(WorkerPool, PassingOnSwallowsNoSignal) {
  struct Slow : PoolClient {
    bool RunOne() override {
      const int call = ++entered;
      entered.notify_all();
      if (call == 1) entered.wait(1);
      return false;
    }
    std::atomic<int> entered{0};
  } slow;
  WorkerPool pool("test", 2);
  pool.Signal(&slow);
  slow.entered.wait(0);
  pool.PassOn(&slow);
  pool.Signal(&slow);
  EXPECT_TRUE(Eventually([&slow] { return slow.entered >= 3; })) << slow.entered;
  pool.Remove(&slow);
}

TEST(WorkerPool, RemoveWaitsForWhatRunsAndNothingFollows) {
  for (int i = 0; i < kWorkerPoolSchedules / 20 && !HasFailure(); ++i) {
    ScheduleRandom random(1'000'000 + static_cast<uint64_t>(i));
    WorkerPool pool("test", 3);
    Counter client(1 + random.Below(20));
    Counter other;
    std::atomic<bool> over{false};
    std::thread giver([&] {
      while (!over.load()) {
        client.Add(2);
        pool.Signal(&client);
        other.Add(1);
        pool.Signal(&other);
        PauseSchedule(3);
      }
    });
    PauseSchedule(random.Below(50));
    pool.Remove(&client);
    EXPECT_EQ(client.running(), 0);
    const int done = client.done();
    PauseSchedule(10);
    EXPECT_EQ(client.done(), done);
    // The others go on.
    const int others = other.done();
    EXPECT_TRUE(Eventually([&] { return other.done() > others; }));
    over.store(true);
    giver.join();
    pool.Remove(&other);
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", kWorkerPoolSchedules / 20);
}

TEST(WorkerPool, RemoveGivesUpInTime) {
  class Stuck : public PoolClient {
   public:
    bool RunOne() override {
      inside.store(true);
      go.Wait();
      return true;
    }
    std::atomic<bool> inside{false};
    Gate go;
  } stuck;
  WorkerPool pool("test", 1);
  pool.Signal(&stuck);
  ASSERT_TRUE(Eventually([&stuck] { return stuck.inside.load(); }));
  EXPECT_FALSE(pool.Remove(&stuck, WorkerPool::Clock::now()));
  EXPECT_FALSE(pool.Remove(&stuck, WorkerPool::Clock::now() + std::chrono::milliseconds(5)));
  stuck.go.Open();
  EXPECT_TRUE(pool.Remove(&stuck, WorkerPool::Clock::now() + std::chrono::seconds(40)));
}

// Runs only when all threads are in it at once.
class Crowd : public PoolClient {
 public:
  Crowd(WorkerPool* pool, int wanted) : pool_(pool), wanted_(wanted) {}
  bool RunOne() override {
    pool_->BeginLongTask();
    const int inside = inside_.fetch_add(1) + 1;
    if (inside < wanted_) pool_->Signal(this);
    if (inside >= wanted_) full_.store(true);
    const bool all = Eventually([this] { return full_.load(); });
    if (!all) failed_.store(true);
    pool_->EndLongTask();
    return false;
  }
  bool full() const { return full_.load(); }
  bool failed() const { return failed_.load(); }

 private:
  WorkerPool* const pool_;
  const int wanted_;
  std::atomic<int> inside_{0};
  std::atomic<bool> full_{false};
  std::atomic<bool> failed_{false};
};

int ThreadsNamed(const std::string& name) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string line;
    std::getline(std::ifstream(entry.path() / "comm"), line);
    found += line == name ? 1 : 0;
  }
  return found;
}

// Many workers are a cap, not a need.
TEST(WorkerPool, TheReserveStartsWhenItIsCalledUp) {
  WorkerPool pool("reserve", 5000, 1);
  Counter light;
  light.Add(10);
  pool.Signal(&light);
  ASSERT_TRUE(light.WaitFor(10));
  EXPECT_LE(ThreadsNamed("reserve"), 1);
  Crowd crowd(&pool, 4);
  pool.Signal(&crowd);
  EXPECT_TRUE(Eventually([&crowd] { return crowd.full(); }));
  EXPECT_GE(ThreadsNamed("reserve"), 4);
  EXPECT_LE(ThreadsNamed("reserve"), 8);
  EXPECT_EQ(pool.threads(), 5000);
  pool.Remove(&crowd);
  pool.Remove(&light);
  pool.Stop();
  EXPECT_EQ(pool.idle(), 0);
}

TEST(WorkerPool, GoesOnAfterAStop) {
  for (int i = 0; i < kWorkerPoolSchedules / 4 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    ScheduleRandom random(2'000'000 + static_cast<uint64_t>(i));
    WorkerPool pool("test", 1 + static_cast<int>(random.Below(3)));
    Counter client(random.Below(5));
    std::vector<std::thread> stoppers;
    for (uint64_t stopper = 0; stopper < 1 + random.Below(2); ++stopper) {
      stoppers.emplace_back([&pool, pause = random.Below(40)] {
        PauseSchedule(pause);
        pool.Stop();
      });
    }
    constexpr int kUnits = 20;
    for (int unit = 0; unit < kUnits; ++unit) {
      client.Add(1);
      pool.Signal(&client);
      PauseSchedule(random.Below(4));
    }
    for (std::thread& stopper : stoppers) stopper.join();
    // Work added while it stopped is done after the next signal.
    pool.Signal(&client);
    EXPECT_TRUE(client.WaitFor(kUnits)) << client.done();
    pool.Remove(&client);
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", kWorkerPoolSchedules / 4);
}

TEST(WorkerPool, StopJoinsAndDoesNothingMore) {
  WorkerPool pool("test", 2);
  Counter client;
  client.Add(5);
  pool.Signal(&client);
  ASSERT_TRUE(client.WaitFor(5));
  pool.Stop();
  EXPECT_EQ(pool.idle(), 0);
  client.Add(1);
  PauseSchedule(100);
  EXPECT_EQ(client.done(), 5);
  pool.Remove(&client);
}

TEST(WorkerPool, ClientsTakeTurns) {
  WorkerPool pool("test", 1);
  std::vector<const Counter*> order;
  // Holds the only thread until all clients are in the queue.
  class Holder : public PoolClient {
   public:
    bool RunOne() override {
      gate.Wait();
      return false;
    }
    Gate gate;
  } holder;
  pool.Signal(&holder);
  std::vector<std::unique_ptr<Counter>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<Counter>());
    clients.back()->WriteTo(&order);
    clients.back()->Add(4);
    pool.Signal(clients.back().get());
  }
  holder.gate.Open();
  for (auto& client : clients) EXPECT_TRUE(client->WaitFor(4));
  pool.Remove(&holder);
  for (auto& client : clients) pool.Remove(client.get());
  ASSERT_EQ(order.size(), 12u);
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], clients[i % 3].get()) << i;
}

TEST(WorkerPool, GrowsAndRunsOneClientOnAllThreads) {
  WorkerPool pool("test", 1);
  EXPECT_EQ(pool.threads(), 1);
  Counter first;
  first.Add(1);
  pool.Signal(&first);
  ASSERT_TRUE(first.WaitFor(1));
  pool.Grow(5);
  pool.Grow(2);
  EXPECT_EQ(pool.threads(), 5);
  Crowd crowd(&pool, 5);
  pool.Signal(&crowd);
  EXPECT_TRUE(Eventually([&crowd] { return crowd.full(); }));
  pool.Remove(&crowd);
  pool.Remove(&first);
  EXPECT_FALSE(crowd.failed());
}

// A task that announces whether it is long, and runs until it is released.
class Held : public PoolClient {
 public:
  Held(WorkerPool* pool, bool light) : pool_(pool), light_(light) {}
  ~Held() override { LetGo(); }
  bool RunOne() override {
    if (!light_) pool_->BeginLongTask();
    runs_.store(true);
    go_.Wait();
    if (!light_) pool_->EndLongTask();
    return false;
  }
  void LetGo() {
    go_.Open();
    pool_->Remove(this);
  }
  bool runs() const { return runs_.load(); }

 private:
  WorkerPool* const pool_;
  const bool light_;
  std::atomic<bool> runs_{false};
  Gate go_;
};

// Starts a task that keeps its thread busy.
void Start(WorkerPool& pool, Held& task) {
  pool.Signal(&task);
  ASSERT_TRUE(Eventually([&task] { return task.runs(); }));
}

// Waits until all threads have started and sleep: one that is starting would take work for which no thread was woken.
void LetAllSleep(WorkerPool* pool) {
  Crowd crowd(pool, pool->threads());
  pool->Signal(&crowd);
  ASSERT_TRUE(Eventually([&crowd] { return crowd.full(); }));
  pool->Remove(&crowd);
  ASSERT_EQ(pool->idle(), pool->threads());
}

TEST(WorkerPool, WakesNoThreadWhileLightTasksHaveTheCores) {
  WorkerPool pool("test", 4, 2);
  LetAllSleep(&pool);
  Held first(&pool, true), second(&pool, true);
  for (Held* each : {&first, &second}) Start(pool, *each);
  EXPECT_FALSE(pool.Wakes());
  Held third(&pool, true);
  pool.Signal(&third);
  PauseSchedule(1000);
  EXPECT_FALSE(third.runs());
  EXPECT_EQ(pool.idle(), 2);
  // The free thread takes it.
  first.LetGo();
  EXPECT_TRUE(Eventually([&third] { return third.runs(); }));
  EXPECT_EQ(pool.idle(), 2);
}

TEST(WorkerPool, AThreadInFrontIsWokenThoughTheQueueIsLong) {
  WorkerPool pool("test", 4, 1);
  LetAllSleep(&pool);
  Held in_front(&pool, false), in_reserve(&pool, true);
  Start(pool, in_front);
  Start(pool, in_reserve);
  in_front.LetGo();
  ASSERT_EQ(pool.idle(), 3);
  Held long1(&pool, false), long2(&pool, false), long3(&pool, false);
  for (Held* each : {&long1, &long2, &long3}) pool.Signal(each);
  EXPECT_EQ(pool.idle(), 3);
  // Its thread takes the first of them. Other threads, which slept through the signals, take the others.
  in_reserve.LetGo();
  for (Held* each : {&long1, &long2, &long3}) EXPECT_TRUE(Eventually([each] { return each->runs(); }));
}

TEST(WorkerPool, TheReserveLeavesLightTasksToTheFront) {
  WorkerPool pool("test", 2, 1);
  LetAllSleep(&pool);
  Held in_front(&pool, false), in_reserve(&pool, false), light1(&pool, true), light2(&pool, true);
  Start(pool, in_front);
  Start(pool, in_reserve);
  in_front.LetGo();
  Start(pool, light1);
  pool.Signal(&light2);
  in_reserve.LetGo();
  EXPECT_EQ(pool.idle(), 1);
  EXPECT_FALSE(light2.runs());
  light1.LetGo();
  EXPECT_TRUE(Eventually([&light2] { return light2.runs(); }));
}

TEST(WorkerPool, LightTasksStayOnTheThreadsInFront) {
  WorkerPool pool("test", 8, 2);
  LetAllSleep(&pool);
  class Where : public PoolClient {
   public:
    bool RunOne() override {
      const std::lock_guard<std::mutex> lock(mutex_);
      threads_.insert(std::this_thread::get_id());
      runs_.fetch_add(1);
      return false;
    }
    int runs() const { return runs_.load(); }
    size_t threads() const { return threads_.size(); }

   private:
    std::mutex mutex_;
    std::set<std::thread::id> threads_;
    std::atomic<int> runs_{0};
  } clients[3];
  for (int i = 0; i < kWorkerPoolSchedules; ++i) {
    for (Where& client : clients) pool.Signal(&client);
    PauseSchedule(i % 7);
  }
  for (Where& client : clients) {
    EXPECT_TRUE(Eventually([&client] { return client.runs() > 0; }));
    pool.Remove(&client);
    EXPECT_LE(client.threads(), 2u);
  }
}

TEST(WorkerPool, ALongTaskWakesThoseThatLightOnesLeftAsleep) {
  WorkerPool pool("test", 6, 2);
  LetAllSleep(&pool);
  Held first(&pool, true), second(&pool, true);
  for (Held* each : {&first, &second}) Start(pool, *each);
  Held long1(&pool, false), long2(&pool, false), long3(&pool, false);
  for (Held* each : {&long1, &long2, &long3}) pool.Signal(each);
  PauseSchedule(1000);
  EXPECT_FALSE(long1.runs() || long2.runs() || long3.runs());
  // One thread becomes free and finds that its next task is long: all the others run beside it.
  first.LetGo();
  for (Held* each : {&long1, &long2, &long3}) EXPECT_TRUE(Eventually([each] { return each->runs(); }));
}

TEST(WorkerPool, ASignalGivenWhileAClientRunsMakesItRunAgain) {
  class Once : public PoolClient {
   public:
    bool RunOne() override {
      runs.fetch_add(1);
      inside.store(true);
      go.Wait();
      return false;
    }
    std::atomic<int> runs{0};
    std::atomic<bool> inside{false};
    Gate go;
  } client;
  WorkerPool pool("test", 1);
  pool.Signal(&client);
  ASSERT_TRUE(Eventually([&client] { return client.inside.load(); }));
  // Two signals cause one more run, not none.
  pool.Signal(&client);
  pool.Signal(&client);
  client.go.Open();
  EXPECT_TRUE(Eventually([&client] { return client.runs.load() == 2; }));
  pool.Remove(&client);
  EXPECT_EQ(client.runs.load(), 2);
}

}  // namespace
}  // namespace headrace
