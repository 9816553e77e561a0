#include "engine/exec/connector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "core/row_id.h"
#include "core/testing/rounds.h"
#include "engine/testing/cooperative_threads.h"
#include "engine/testing/schedule_lanes.h"
#include "engine/testing/schedule_pause.h"

namespace headrace {
namespace {

const int kTurnSchedules = Rounds(10000, {.quick = 1000, .sanitized = 600});
const int kConnectorThreadSchedules = Rounds(4000, {.quick = 400, .sanitized = 200});
const int kLossSchedules = Rounds(1500, {.sanitized = 0});

// One part of an item; counts those alive.
class Part {
 public:
  Part(uint64_t number, int part) : number_(number), part_(part) { alive.fetch_add(1); }
  ~Part() { alive.fetch_sub(1); }
  Part(const Part&) = delete;
  uint64_t number() const { return number_; }
  int part() const { return part_; }

  static std::atomic<int> alive;

 private:
  uint64_t number_;
  int part_;
};
std::atomic<int> Part::alive{0};
using Item = std::unique_ptr<Part>;

// What happens in one schedule: a function of the seed.
struct Plan {
  struct Row {
    int parts;
    int64_t bytes;  // of each part
    int cost;       // pauses before it is pushed
  };

  explicit Plan(uint64_t seed) {
    ScheduleRandom random(seed);
    queues = 1 + static_cast<int>(random.Below(7));
    producers = 1 + static_cast<int>(random.Below(4));
    const uint64_t bounds[] = {0, 1, 40, 150, 400};
    if (const uint64_t bound = bounds[random.Below(5)]; bound > 0) byte_bound = static_cast<int64_t>(bound);
    const bool parted = random.OneIn(3);
    rows.resize(1 + random.Below(24));
    for (Row& row : rows) {
      row.parts = parted ? 1 + static_cast<int>(random.Below(4)) : 1;
      row.bytes = random.OneIn(4) ? 100 : static_cast<int64_t>(random.Below(20));
      // Most rows cost nothing; a few delay a producer for long.
      row.cost = random.OneIn(8) ? 40 : static_cast<int>(random.Below(3));
    }
    one_part = !parted;
    // Somewhere within the run, or never.
    const uint64_t ending = random.Below(4);
    if (ending == 0) consumer_closes_at = random.Below(rows.size());
    if (ending == 1) closer_pauses = static_cast<int>(random.Below(60));
  }
  bool closes_early() const { return consumer_closes_at != UINT64_MAX || closer_pauses >= 0; }

  int queues = 1;
  int producers = 1;
  int64_t byte_bound = Connector<Item>::kNoBound;
  std::vector<Row> rows;
  bool one_part = true;
  uint64_t consumer_closes_at = UINT64_MAX;  // as if that row were an error
  int closer_pauses = -1;                    // of a thread that only closes; -1: there is none
};

// Lets others run between any two steps.
struct Turns {
  using Wake = CooperativeWake;
  static constexpr bool kAlone = true;  // no other thread runs between two pauses
  static void Pause(int times) {
    for (int i = 0; i < times; ++i) CooperativeThreads::Current()->Yield();
  }
};
struct RealThreads {
  using Wake = ConditionWake;
  static constexpr bool kAlone = false;
  static void Pause(int times) { PauseSchedule(static_cast<uint64_t>(times)); }
};

// Runs a plan's producers and its consumer over one connector, and checks what they see.
template <typename Env>
class Schedule {
 public:
  Schedule(const Plan& plan, uint64_t seed)
      : plan_(plan), seed_(seed), connector_(plan.queues, plan.byte_bound), left_(static_cast<int>(plan.rows.size())) {}

  std::vector<std::function<void()>> Bodies() {
    std::vector<std::function<void()>> bodies;
    for (int i = 0; i < plan_.producers; ++i) bodies.push_back([this, i] { Produce(static_cast<uint64_t>(i)); });
    bodies.push_back([this] { Consume(); });
    if (plan_.closer_pauses >= 0) bodies.push_back([this] { CloseLater(); });
    return bodies;
  }

  // The popped parts are those due, in order; all of them if nothing was closed.
  void CheckPopped() {
    size_t at = 0;
    for (uint64_t number = 0; number < plan_.rows.size(); ++number) {
      for (int part = 0; part < plan_.rows[number].parts; ++part, ++at) {
        if (at == popped_.size()) {
          EXPECT_TRUE(plan_.closes_early()) << "lost from " << number << " on, seed " << seed_;
          return;
        }
        EXPECT_EQ(popped_[at], std::make_pair(number, part)) << "seed " << seed_;
      }
    }
    EXPECT_EQ(at, popped_.size()) << "seed " << seed_;
    if (plan_.closes_early()) return;
    const auto levels = connector_.levels();
    EXPECT_EQ(levels.due, plan_.rows.size());
    EXPECT_EQ(levels.queued, 0);
    EXPECT_EQ(levels.bytes, 0);
  }

 private:
  void Doing(const char* what) {
    if constexpr (Env::kAlone) CooperativeWake::Doing(what);
  }

  // Rows that this producer may still begin, of `most`.
  int Reserve(int most) {
    const int before = left_.fetch_sub(most);
    const int mine = std::clamp(before, 0, most);
    left_.fetch_add(most - mine);
    return mine;
  }

  void Produce(uint64_t who) {
    ScheduleRandom random(MixKey(seed_, who));
    while (true) {
      Env::Pause(static_cast<int>(random.Below(2)));
      const int reserved = Reserve(1 + static_cast<int>(random.Below(3)));
      if (reserved == 0) {
        if (left_.load() <= 0) return;
        continue;
      }
      for (int made = 0; made < reserved;) {
        int taken = 0;
        const std::optional<uint64_t> first = TakeSome(random, reserved - made, taken);
        if (!first.has_value()) return;
        CheckTaken(*first, taken);
        Make(*first, taken, random);
        made += taken;
      }
    }
  }

  std::optional<uint64_t> TakeSome(ScheduleRandom& random, int most, int& taken) {
    if (random.OneIn(2)) {
      const std::optional<uint64_t> first = connector_.TryTake(most, taken);
      if (first.has_value()) return first;
    }
    taken = 1;
    return connector_.Take();
  }

  // Holds right after taking, if no other thread ran.
  void CheckTaken(uint64_t first, int taken) {
    if constexpr (!Env::kAlone) return;
    const auto levels = connector_.levels();
    const uint64_t last = first + static_cast<uint64_t>(taken) - 1;
    EXPECT_LT(last, levels.due + static_cast<uint64_t>(plan_.queues)) << "seed " << seed_;
    if (last == levels.due || !plan_.one_part || plan_.byte_bound == Connector<Item>::kNoBound) return;
    const int64_t on_way = static_cast<int64_t>(levels.next - levels.due) - levels.queued;
    EXPECT_LE(levels.bytes + on_way * levels.largest, plan_.byte_bound) << "seed " << seed_;
  }

  void Make(uint64_t first, int taken, ScheduleRandom& random) {
    const uint64_t end = first + static_cast<uint64_t>(taken);
    if (plan_.one_part && taken > 1 && random.OneIn(2)) {
      std::vector<std::pair<Item, int64_t>> items;
      for (uint64_t number = first; number < end; ++number) {
        items.emplace_back(std::make_unique<Part>(number, 0), plan_.rows[number].bytes);
      }
      Env::Pause(plan_.rows[first].cost);
      Doing("push");
      connector_.PushRun(first, items);
      Doing(nullptr);
      return;
    }
    // From the last to the first: the connector restores the order.
    for (uint64_t number = end; number-- > first;) {
      const Plan::Row& row = plan_.rows[number];
      for (int part = 0; part < row.parts; ++part) {
        Env::Pause(row.cost);
        PushChecked(number, part, row);
      }
    }
  }

  void PushChecked(uint64_t number, int part, const Plan::Row& row) {
    const std::vector<int> before = QueueSizes();
    Doing("push");
    const bool due = connector_.Push(number, std::make_unique<Part>(number, part), row.bytes, part + 1 < row.parts);
    Doing(nullptr);
    if constexpr (!Env::kAlone) return;
    const std::vector<int> after = QueueSizes();
    const uint64_t own = number % static_cast<uint64_t>(plan_.queues);
    if (closed_) return;
    for (size_t queue = 0; queue < after.size(); ++queue) {
      EXPECT_EQ(after[queue], before[queue] + (queue == own ? 1 : 0)) << "queue " << queue << ", seed " << seed_;
    }
    EXPECT_EQ(due, number == connector_.levels().due);
  }

  std::vector<int> QueueSizes() {
    std::vector<int> sizes;
    if constexpr (Env::kAlone) {
      for (int queue = 0; queue < plan_.queues; ++queue) sizes.push_back(connector_.QueueSize(queue));
    }
    return sizes;
  }

  void Consume() {
    ScheduleRandom random(MixKey(seed_, 99));
    size_t parts = 0;
    for (const Plan::Row& row : plan_.rows) parts += static_cast<size_t>(row.parts);
    std::vector<Item> items;
    while (popped_.size() < parts) {
      Env::Pause(random.OneIn(6) ? 20 : static_cast<int>(random.Below(2)));
      items.clear();
      Doing("pop");
      const bool open = PopSome(random, items);
      Doing(nullptr);
      for (const Item& item : items) {
        popped_.emplace_back(item->number(), item->part());
        if (item->number() == plan_.consumer_closes_at) return Close();
      }
      if (!open) return;
    }
  }

  bool PopSome(ScheduleRandom& random, std::vector<Item>& items) {
    const uint64_t way = random.Below(3);
    bool was_full = false;
    if (way == 0) {
      if (connector_.TryPopRun(1 + static_cast<int>(random.Below(5)), items, was_full) > 0) return true;
      connector_.WaitReady(std::chrono::hours(1));
      return !closed_;
    }
    if (way == 1) {
      if (std::optional<Item> item = connector_.TryPop(was_full); item.has_value()) {
        items.push_back(*std::move(item));
        return true;
      }
    }
    std::optional<Item> item = connector_.Pop();
    if (item.has_value()) items.push_back(*std::move(item));
    return item.has_value();
  }

  void CloseLater() {
    Env::Pause(plan_.closer_pauses);
    Close();
  }
  void Close() {
    closed_ = true;
    Doing("close");
    connector_.Close();
    Doing(nullptr);
  }

  const Plan& plan_;
  const uint64_t seed_;
  Connector<Item, typename Env::Wake> connector_;
  std::atomic<int> left_;
  std::atomic<bool> closed_{false};
  std::vector<std::pair<uint64_t, int>> popped_;
};

// False: it hung.
bool RunInTurns(uint64_t seed, CooperativeWake::Loss loss = {}) {
  const Plan plan(seed);
  CooperativeWake::Lose(loss);
  bool ended = false;
  {
    Schedule<Turns> schedule(plan, seed);
    CooperativeThreads threads(MixKey(seed, 1));
    for (auto& body : schedule.Bodies()) threads.Add(std::move(body));
    ended = threads.Run();
    if (ended) schedule.CheckPopped();
  }
  EXPECT_EQ(Part::alive.load(), 0) << "seed " << seed;
  return ended;
}

TEST(Connector, ALimitNarrowsTheWindowWhileItRuns) {
  Connector<int> connector(8);
  int taken = 0;
  connector.SetLimit(2);
  EXPECT_EQ(connector.FreeSlots(), 2);
  ASSERT_EQ(connector.TryTake(8, taken), 0u);
  EXPECT_EQ(taken, 2);
  connector.SetLimit(4);
  EXPECT_EQ(connector.FreeSlots(), 2);
  ASSERT_EQ(connector.TryTake(8, taken), 2u);
  connector.SetLimit(1);
  EXPECT_EQ(connector.FreeSlots(), 0);
  for (uint64_t number = 0; number < 4; ++number) connector.Push(number, 10 + static_cast<int>(number));
  // More numbers are taken than the limit allows: there is no free slot until the last is popped.
  for (int item = 10; item < 14; ++item) {
    bool was_full = false;
    EXPECT_EQ(connector.TryPop(was_full), item);
    EXPECT_EQ(was_full, item == 13);
  }
  EXPECT_EQ(connector.FreeSlots(), 1);
}

// The producer is told once, when there is room, and not at each slot before.
TEST(Connector, GivesNoNumbersWithoutRoomUntilFewItemsAreLeft) {
  constexpr int kWindow = 16;
  Connector<int> connector(kWindow);
  const auto fill = [&connector](int most) {
    int taken = 0;
    const std::optional<uint64_t> first = connector.TryTake(most, taken);
    for (int i = 0; i < taken; ++i) connector.Push(*first + static_cast<uint64_t>(i), i);
    return taken;
  };
  connector.SetRoom(3);
  EXPECT_EQ(fill(kWindow), kWindow);
  for (int popped = 1; popped <= 3; ++popped) {
    bool was_full = false;
    EXPECT_TRUE(connector.TryPop(was_full).has_value());
    EXPECT_EQ(was_full, popped == 3);
    EXPECT_EQ(connector.FreeSlots(), popped == 3 ? 3 : 0);
  }
  EXPECT_EQ(fill(kWindow), 3);
  // More room than there is comes when a quarter is free.
  connector.SetRoom(100);
  for (int popped = 1; popped <= 4; ++popped) {
    bool was_full = false;
    EXPECT_TRUE(connector.TryPop(was_full).has_value());
    EXPECT_EQ(was_full, popped == 4);
  }
  EXPECT_EQ(connector.FreeSlots(), 4);
  // Taken numbers whose items are on their way leave the consumer without any.
  int taken = 0;
  EXPECT_TRUE(connector.TryTake(3, taken).has_value());
  EXPECT_EQ(connector.FreeSlots(), 0);
  for (bool was_full = false; connector.TryPop(was_full).has_value();) {
  }
  EXPECT_EQ(connector.FreeSlots(), 13);
}

TEST(Connector, LosesNothingWhateverTheTurns) {
  for (int seed = 0; seed < kTurnSchedules && !HasFailure(); ++seed) {
    EXPECT_TRUE(RunInTurns(static_cast<uint64_t>(seed))) << "hung, seed " << seed;
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", kTurnSchedules);
}

// Ends the process if a schedule takes so long that it must hang.
class Watchdog {
 public:
  Watchdog() : thread_([this] { Watch(); }) {}
  ~Watchdog() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void Begin(uint64_t seed) {
    std::lock_guard<std::mutex> lock(mutex_);
    seed_ = seed;
  }
  void End() { Begin(kNone); }

 private:
  void Watch() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!over_) {
      const uint64_t seed = seed_;
      changed_.wait_for(lock, std::chrono::seconds(40), [this] { return over_; });
      if (over_ || seed != seed_ || seed == kNone) continue;
      std::fprintf(stderr, "the schedule with seed %llu hangs\n", static_cast<unsigned long long>(seed));
      std::abort();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  static constexpr uint64_t kNone = 0;
  uint64_t seed_ = kNone;
  bool over_ = false;
  std::thread thread_;
};

TEST(Connector, LosesNothingWithThreads) {
  std::array<Watchdog, kScheduleLanes> watchdogs;
  RunInLanes(kConnectorThreadSchedules, [&watchdogs](int i, int lane) {
    const uint64_t seed = 1'000'000 + static_cast<uint64_t>(i);
    watchdogs[static_cast<size_t>(lane)].Begin(seed);
    const Plan plan(seed);
    Schedule<RealThreads> schedule(plan, seed);
    std::vector<std::thread> threads;
    for (auto& body : schedule.Bodies()) threads.emplace_back(std::move(body));
    for (std::thread& thread : threads) thread.join();
    schedule.CheckPopped();
    watchdogs[static_cast<size_t>(lane)].End();
  });
  EXPECT_EQ(Part::alive.load(), 0);
  std::printf("HEADRACE-COUNT schedules=%d\n", kConnectorThreadSchedules);
}

// The wake that producers wait on is made first.
constexpr int kSpace = 0;
constexpr int kData = 1;

struct Site {
  const char* name;
  const char* doing;
  int wake;
};

class LostWakeUp : public testing::TestWithParam<Site> {};

// Shows that the schedules above would find a missing notification.
TEST_P(LostWakeUp, IsFound) {
  if (kLossSchedules == 0) GTEST_SKIP() << "tests the schedules, not the connector";
  int hung = 0;
  int hung_by_one = 0;
  int wake_ups = 0;
  for (int i = 0; i < kLossSchedules; ++i) {
    const uint64_t seed = static_cast<uint64_t>(i);
    if (!RunInTurns(seed, {GetParam().doing, GetParam().wake, -1})) ++hung;
    wake_ups += CooperativeWake::Seen();
    if (!RunInTurns(seed, {GetParam().doing, GetParam().wake, i % 3})) ++hung_by_one;
  }
  EXPECT_GT(wake_ups, 0);
  EXPECT_GT(hung, 0);
  EXPECT_GT(hung_by_one, 0);
  std::printf("HEADRACE-COUNT schedules=%d\n", 2 * kLossSchedules);
  RecordProperty("hung", hung);
  RecordProperty("hung_by_one", hung_by_one);
}

INSTANTIATE_TEST_SUITE_P(OfEverySite, LostWakeUp,
                         testing::Values(Site{"PushOfWhatIsDue", "push", kData}, Site{"PopFreesASlot", "pop", kSpace},
                                         Site{"SmallPushLeavesRoom", "push", kSpace},
                                         Site{"CloseFreesProducers", "close", kSpace},
                                         Site{"CloseFreesTheConsumer", "close", kData}),
                         [](const auto& info) { return info.param.name; });

TEST(Connector, GivesOutNumbersUpToTheWindow) {
  Connector<int> connector(3);
  int taken = 0;
  EXPECT_EQ(connector.TryTake(2, taken), 0u);
  EXPECT_EQ(taken, 2);
  EXPECT_EQ(connector.TryTake(5, taken), 2u);
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(connector.TryTake(1, taken), std::nullopt);
  EXPECT_EQ(connector.FreeSlots(), 0);
  // Later numbers free nothing.
  EXPECT_FALSE(connector.Push(2, 20));
  EXPECT_FALSE(connector.Push(1, 10));
  EXPECT_FALSE(connector.Ready());
  EXPECT_EQ(connector.FreeSlots(), 0);
  EXPECT_TRUE(connector.Push(0, 0));
  bool was_full = false;
  EXPECT_EQ(connector.TryPop(was_full), 0);
  EXPECT_TRUE(was_full);
  EXPECT_EQ(connector.FreeSlots(), 1);
  std::vector<int> rest;
  EXPECT_EQ(connector.TryPopRun(9, rest, was_full), 2);
  EXPECT_EQ(rest, (std::vector<int>{10, 20}));
}

TEST(Connector, ARunEndsAfterItsLastPart) {
  Connector<int> connector(8);
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(connector.Take().has_value());
    connector.Push(static_cast<uint64_t>(i), i);
  }
  bool was_full = false;
  std::vector<int> parts;
  const auto at_odds = [](int part) { return part % 2 == 1; };
  EXPECT_EQ(connector.TryPopRun(9, parts, was_full, at_odds), 2);
  EXPECT_EQ(connector.TryPopRun(1, parts, was_full, at_odds), 1);
  EXPECT_EQ(connector.TryPopRun(9, parts, was_full, at_odds), 1);
  EXPECT_EQ(parts, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(connector.TryPopRun(9, parts, was_full), 2);
}

TEST(Connector, OnlyTheLastPartFreesTheSlot) {
  Connector<int> connector(1);
  ASSERT_EQ(connector.Take(), 0u);
  EXPECT_TRUE(connector.Push(0, 1, 0, true));
  bool was_full = false;
  EXPECT_EQ(connector.TryPop(was_full), 1);
  EXPECT_FALSE(was_full);
  EXPECT_EQ(connector.FreeSlots(), 0);
  EXPECT_EQ(connector.levels().due, 0u);
  EXPECT_EQ(connector.TryPop(was_full), std::nullopt);
  EXPECT_TRUE(connector.Push(0, 2, 0, true));
  EXPECT_TRUE(connector.Push(0, 3));
  std::vector<int> parts;
  EXPECT_EQ(connector.TryPopRun(9, parts, was_full), 2);
  EXPECT_EQ(parts, (std::vector<int>{2, 3}));
  EXPECT_TRUE(was_full);
  EXPECT_EQ(connector.levels().due, 1u);
}

TEST(Connector, AdmitsWhatIsDueOverTheByteBound) {
  Connector<int> connector(8, 10);
  int taken = 0;
  // Nothing is known of sizes yet.
  ASSERT_EQ(connector.TryTake(2, taken), 0u);
  connector.Push(1, 1, 100);
  EXPECT_EQ(connector.FreeSlots(), 0) << "0 is due and taken: nothing more may come";
  connector.Push(0, 0, 100);
  EXPECT_EQ(connector.FreeSlots(), 0);
  bool was_full = false;
  EXPECT_EQ(connector.TryPop(was_full), 0);
  EXPECT_EQ(connector.FreeSlots(), 0);
  EXPECT_EQ(connector.TryPop(was_full), 1);
  EXPECT_TRUE(was_full);
  EXPECT_EQ(connector.FreeSlots(), 1) << "the number that is due, and no other";
  EXPECT_EQ(connector.TryTake(5, taken), 2u);
  EXPECT_EQ(taken, 1);
}

TEST(Connector, KeepsPromisedNumbers) {
  Connector<int> connector(4, 10);
  ASSERT_EQ(connector.TakePromised(2), 0u);
  EXPECT_EQ(connector.FreeSlots(), 2);
  // What is pushed now takes the room away, but keeps the promise.
  connector.Push(0, 0, 10);
  EXPECT_EQ(connector.FreeSlots(), 0);
  EXPECT_EQ(connector.TakePromised(2), 2u);
  EXPECT_EQ(connector.levels().next, 4u);
}

TEST(Connector, ClosedGivesAndTakesNothing) {
  Connector<Item> connector(2);
  ASSERT_EQ(connector.Take(), 0u);
  connector.Push(0, std::make_unique<Part>(0, 0), 7);
  connector.Close();
  EXPECT_EQ(Part::alive.load(), 0);
  EXPECT_EQ(connector.levels().bytes, 0);
  EXPECT_EQ(connector.Take(), std::nullopt);
  EXPECT_FALSE(connector.Pop().has_value());
  EXPECT_FALSE(connector.Push(0, std::make_unique<Part>(0, 0)));
  EXPECT_EQ(Part::alive.load(), 0);
  EXPECT_TRUE(connector.WaitReady(std::chrono::hours(1))) << "a wait on a closed connector returns at once";
  connector.Close();
}

TEST(Connector, WaitsNoLongerThanAsked) {
  Connector<int> connector(2);
  EXPECT_FALSE(connector.WaitReady(std::chrono::milliseconds(1)));
  connector.Push(*connector.Take(), 5);
  EXPECT_TRUE(connector.WaitReady(std::chrono::hours(1)));
  int seen = 0;
  EXPECT_TRUE(connector.Peek([&seen](int item) { seen = item; }));
  EXPECT_EQ(seen, 5);
}

}  // namespace
}  // namespace headrace
