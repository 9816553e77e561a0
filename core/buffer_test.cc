#include "core/buffer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <set>
#include <thread>

#include "core/fork_watch.h"
#include "core/row_id.h"
#include "core/testing/rounds.h"

namespace headrace {
namespace {

const int kRounds = Rounds(30000, {.quick = 2000, .sanitized = 2000});

// Counts what is out, and has no more than `limit` to give.
class CountingAllocator : public Allocator {
 public:
  void* Allocate(size_t bytes) override {
    if (out_.load() + static_cast<int64_t>(bytes) > limit) return nullptr;
    out_.fetch_add(static_cast<int64_t>(bytes));
    made_.fetch_add(1);
    return std::aligned_alloc(kBufferAlignment, bytes);
  }
  void Free(void* memory, size_t bytes) override {
    out_.fetch_sub(static_cast<int64_t>(bytes));
    std::free(memory);
  }
  int64_t out() const { return out_.load(); }
  int made() const { return made_.load(); }
  int64_t limit = int64_t{1} << 40;

 private:
  std::atomic<int64_t> out_{0};
  std::atomic<int> made_{0};
};

// A pool that gives all back when the test ends.
struct OwnPool {
  CountingAllocator memory;
  BufferPool pool{&memory};
  ~OwnPool() {
    pool.Trim(0);
    EXPECT_EQ(pool.outstanding_bytes(), 0);
    EXPECT_EQ(memory.out(), 0);
  }
};

TEST(BufferPool, GivesAlignedBuffersLargeEnough) {
  OwnPool own;
  for (size_t bytes = 0; bytes < 300'000; bytes += bytes < 3000 ? 1 : 977) {
    const BufferRef buffer = own.pool.Allocate(bytes);
    ASSERT_TRUE(buffer);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % kBufferAlignment, 0u);
    ASSERT_GE(buffer->capacity(), bytes);
    // Wastes a fifth at most, half where they are small.
    if (bytes > 1024) {
      ASSERT_LE(buffer->capacity(), bytes + bytes / 4 + 1);
    } else if (bytes > 64) {
      ASSERT_LT(buffer->capacity(), 2 * bytes);
    }
    ASSERT_EQ(own.pool.outstanding_bytes(), static_cast<int64_t>(buffer->capacity()));
  }
  for (size_t shift = 10; shift < 30; ++shift) {
    for (const int64_t off : {-1, 0, 1}) {
      const size_t bytes = static_cast<size_t>((int64_t{1} << shift) + off);
      ASSERT_GE(own.pool.Allocate(bytes)->capacity(), bytes);
    }
    own.pool.Trim(0);
  }
  EXPECT_FALSE(own.pool.Allocate(size_t{1} << 50));
}

TEST(BufferPool, GivesFreedBuffersAgain) {
  OwnPool own;
  const uint8_t* first = own.pool.Allocate(100'000)->data();
  EXPECT_EQ(own.pool.outstanding_bytes(), 0);
  EXPECT_GE(own.pool.kept_bytes(), 100'000);
  const BufferRef again = own.pool.Allocate(99'000);
  EXPECT_EQ(again->data(), first);
  EXPECT_EQ(own.memory.made(), 1);
  EXPECT_EQ(own.pool.kept_bytes(), 0);
}

TEST(BufferPool, KeepsWhatTheBudgetsLeave) {
  OwnPool own;
  constexpr size_t kMiB = size_t{1} << 20;
  const auto free_many = [&own](int count) {
    std::vector<BufferRef> buffers;
    for (int i = 0; i < count; ++i) buffers.push_back(own.pool.Allocate(kMiB));
  };
  // A batch without a budget, and one more than the budget.
  free_many(60);
  EXPECT_GT(own.pool.kept_bytes(), int64_t{24} << 20);
  EXPECT_LE(own.pool.kept_bytes(), int64_t{32} << 20);
  own.pool.AddBudget(int64_t{20} << 20);
  free_many(80);
  EXPECT_GT(own.pool.kept_bytes(), int64_t{43} << 20);
  EXPECT_LE(own.pool.kept_bytes(), int64_t{52} << 20);
  own.pool.RemoveBudget(int64_t{20} << 20);
  EXPECT_LE(own.pool.kept_bytes(), int64_t{32} << 20);
  own.pool.Trim(int64_t{3} << 20);
  EXPECT_LE(own.pool.kept_bytes(), int64_t{3} << 20);
  EXPECT_GT(own.pool.kept_bytes(), 0);
}

TEST(BufferPool, MakesRoomBeforeItFails) {
  OwnPool own;
  own.memory.limit = 300'000;
  own.pool.Allocate(200'000);
  EXPECT_GT(own.pool.kept_bytes(), 0);
  // Fits only when what is kept is given back.
  EXPECT_TRUE(own.pool.Allocate(120'000));
  EXPECT_FALSE(own.pool.Allocate(400'000));
  EXPECT_EQ(own.pool.outstanding_bytes(), 0);
}

TEST(Buffer, ForeignMemoryIsChargedToWhoseTaskWasGivenIt) {
  MemoryAccount* const account = MemoryAccount::Open();
  uint8_t owned[1000] = {};
  const auto foreign = [&owned](size_t bytes) { return BufferRef::Foreign(owned, bytes, [] {}); };
  BufferRef elsewhere = foreign(1000);
  BufferRef made, given, handed, uncounted;
  {
    const TaskMemory task(&BufferPool::Global(), account, 0);
    made = foreign(1000);
    given = foreign(500);
    handed = foreign(300);
    uncounted = foreign(0);
    EXPECT_GE(task.peak(), 1800);
    given = BufferRef();
  }
  EXPECT_GE(account->held(), 1300);
  EXPECT_LT(account->held(), 1800);
  handed->HandOver();
  EXPECT_LT(account->held(), 1300);
  made = handed = elsewhere = uncounted = BufferRef();
  EXPECT_EQ(account->held(), 0);
  account->Close();
}

// What the user holds takes no room from what is kept for the next batches.
TEST(BufferPool, KeepsMemoryBesideWhatUsersHold) {
  constexpr int64_t kBatch = int64_t{35} << 20;
  BufferPool pool(SystemAllocator());
  pool.AddBudget(int64_t{64} << 20);
  MemoryAccount* const account = MemoryAccount::Open();
  BufferRef batches[3];
  {
    const TaskMemory task(&pool, account, 0);
    for (BufferRef& batch : batches) batch = pool.Allocate(kBatch);
  }
  for (const int given : {0, 1}) {
    batches[given]->HandOver();
    batches[given]->HandOver();
  }
  EXPECT_LT(account->held(), 2 * kBatch);
  batches[2] = BufferRef();
  EXPECT_EQ(account->held(), 0);
  EXPECT_GE(pool.kept_bytes(), kBatch);
  batches[1] = BufferRef();
  EXPECT_GE(pool.kept_bytes(), 2 * kBatch);
  batches[0] = BufferRef();
  EXPECT_LE(pool.kept_bytes(), int64_t{96} << 20);
  account->Close();
  pool.RemoveBudget(int64_t{64} << 20);
  pool.Trim(0);
}

TEST(Buffer, ForeignMemoryIsReleasedOnce) {
  std::atomic<int> released{0};
  int owned[4] = {};
  BufferRef buffer = BufferRef::Foreign(owned, sizeof(owned), [&released] { released.fetch_add(1); });
  EXPECT_EQ(buffer->data(), reinterpret_cast<uint8_t*>(owned));
  EXPECT_EQ(buffer->capacity(), sizeof(owned));
  EXPECT_TRUE(buffer.unique());
  buffer->HandOver();
  std::vector<std::thread> holders;
  for (int i = 0; i < 4; ++i) {
    holders.emplace_back([copy = buffer]() mutable { copy = BufferRef(); });
  }
  for (std::thread& holder : holders) holder.join();
  EXPECT_EQ(released.load(), 0);
  BufferRef moved = std::move(buffer);
  EXPECT_FALSE(buffer);
  EXPECT_TRUE(moved.unique());
  moved = BufferRef();
  EXPECT_EQ(released.load(), 1);
}

TEST(Buffer, GroupsAreHandedOverAndFreedAsOne) {
  MemoryAccount* const account = MemoryAccount::Open();
  std::vector<BufferRef> parts;
  {
    const TaskMemory task(&BufferPool::Global(), account, 0);
    for (int i = 0; i < 3; ++i) parts.push_back(BufferPool::Global().Allocate(100'000));
  }
  const int64_t held = account->held();
  const BufferRef kept = parts[2];
  const uint8_t* const first = std::min({parts[0]->data(), parts[1]->data(), parts[2]->data()});
  BufferRef group = BufferRef::Group(std::move(parts));
  EXPECT_EQ(group->data(), first);
  EXPECT_GE(group->capacity(), 300'000u);
  EXPECT_EQ(account->held(), held);
  BufferRef outer = BufferRef::Group({std::move(group)});
  EXPECT_GE(outer->capacity(), 300'000u);
  outer->HandOver();
  EXPECT_EQ(account->held(), 0);
  EXPECT_FALSE(kept.unique());
  outer = BufferRef();
  EXPECT_TRUE(kept.unique());
  account->Close();
}

TEST(Buffer, BorrowedMemoryIsTheCallersAndNotCharged) {
  MemoryAccount* const account = MemoryAccount::Open();
  uint8_t owned[1000] = {};
  {
    const TaskMemory task(&BufferPool::Global(), account, 0);
    BufferRef borrowed = BufferRef::Borrowed(owned, sizeof(owned));
    ASSERT_TRUE(borrowed);
    EXPECT_EQ(task.peak(), 0);
    EXPECT_EQ(borrowed->data(), owned);
    EXPECT_EQ(borrowed->capacity(), sizeof(owned));
    EXPECT_TRUE(borrowed.unique());
    const BufferRef other = borrowed;
    EXPECT_FALSE(borrowed.unique());
    borrowed->HandOver();
    borrowed->data()[3] = 7;
  }
  EXPECT_EQ(owned[3], 7);
  EXPECT_EQ(account->held(), 0);
  account->Close();
}

class Account {
 public:
  Account() : account_(MemoryAccount::Open()) {}
  ~Account() { account_->Close(); }
  MemoryAccount* get() const { return account_; }
  MemoryAccount* operator->() const { return account_; }

 private:
  MemoryAccount* const account_;
};

constexpr int64_t kBytes = 4096;
constexpr int64_t kCharge = kBytes + 64;  // with its header

TEST(MemoryAccount, ChargesWithinALimit) {
  const Account account;
  EXPECT_TRUE(account->TryCharge(60, 100));
  EXPECT_FALSE(account->TryCharge(41, 100));
  EXPECT_EQ(account->held(), 60);
  EXPECT_EQ(account->peak(), 60) << "what was refused was never held";
  EXPECT_TRUE(account->TryCharge(40, 100));
  account->Charge(5);
  EXPECT_FALSE(account->TryCharge(0, 100));
  account->Charge(-105);
  EXPECT_EQ(account->held(), 0);
  EXPECT_EQ(account->peak(), 105);
}

TEST(MemoryAccount, ManyThreadsNeverPassTheLimit) {
  const Account account;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&account, thread] {
      for (int i = 0; i < kRounds; ++i) {
        const int64_t bytes = 1 + (i * 7 + thread) % 40;
        if (account->TryCharge(bytes, 100)) account->Charge(-bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(account->held(), 0);
  EXPECT_LE(account->peak(), 100);
}

TEST(TaskMemory, ChargesWhatItsTaskMakes) {
  OwnPool own;
  const Account account;
  BufferRef kept;
  {
    const TaskMemory task(&own.pool, account.get(), 0);
    EXPECT_EQ(TaskMemory::Current(), &task);
    EXPECT_EQ(&BufferPool::Current(), &own.pool);
    kept = BufferPool::Current().Allocate(kBytes);
    const BufferRef other = BufferPool::Current().Allocate(kBytes);
    EXPECT_EQ(account->held(), 2 * kCharge) << "others look at the account while the task runs";
    EXPECT_EQ(task.peak(), 2 * kCharge);
  }
  EXPECT_EQ(TaskMemory::Current(), nullptr);
  EXPECT_EQ(account->held(), kCharge);
  EXPECT_EQ(account->peak(), 2 * kCharge);
  kept = BufferRef();
  EXPECT_EQ(account->held(), 0);
}

TEST(TaskMemory, AReservationIsPartOfWhatIsHeld) {
  OwnPool own;
  const Account account;
  account->Charge(3 * kCharge);
  BufferRef kept;
  {
    const TaskMemory task(&own.pool, account.get(), 3 * kCharge);
    kept = BufferPool::Current().Allocate(kBytes);
    const BufferRef second = BufferPool::Current().Allocate(kBytes);
    EXPECT_EQ(account->held(), 3 * kCharge);
    const BufferRef third = BufferPool::Current().Allocate(kBytes);
    const BufferRef fourth = BufferPool::Current().Allocate(kBytes);
    EXPECT_EQ(account->held(), 4 * kCharge);
  }
  EXPECT_EQ(account->held(), kCharge);
  EXPECT_EQ(account->peak(), 4 * kCharge);
}

TEST(TaskMemory, WhatOneTaskMadeAnotherFrees) {
  OwnPool own;
  const Account account;
  const Account others;
  BufferRef buffer;
  {
    const TaskMemory task(&own.pool, account.get(), 0);
    buffer = BufferPool::Current().Allocate(kBytes);
  }
  std::thread([&] {
    // On another thread, in a task of another pipeline.
    const TaskMemory task(&own.pool, others.get(), 0);
    buffer = BufferRef();
    EXPECT_EQ(task.peak(), 0);
  }).join();
  EXPECT_EQ(account->held(), 0);
  EXPECT_EQ(others->held(), 0);
  {
    const TaskMemory task(&own.pool, account.get(), 0);
    buffer = BufferPool::Current().Allocate(kBytes);
  }
  {
    // In a later task of the same pipeline: what it frees makes room for what it makes.
    const TaskMemory task(&own.pool, account.get(), 0);
    buffer = BufferRef();
    buffer = BufferPool::Current().Allocate(kBytes);
    EXPECT_EQ(account->held(), kCharge);
  }
  EXPECT_EQ(account->peak(), kCharge);
  buffer = BufferRef();
}

TEST(Buffer, WhatIsHandedOverLeavesTheAccount) {
  OwnPool own;
  BufferRef buffer;
  MemoryAccount* const account = MemoryAccount::Open();
  {
    const TaskMemory task(&own.pool, account, 0);
    buffer = BufferPool::Current().Allocate(kBytes);
  }
  const BufferRef shared = buffer;
  buffer->HandOver();
  EXPECT_EQ(account->held(), 0);
  shared->HandOver();
  EXPECT_EQ(account->held(), 0);
  account->Close();
  // Its account is gone: nothing of it is touched.
  buffer->data()[0] = 1;
}

TEST(MemoryAccount, OutlivesItsPipelineWhileABufferIsCharged) {
  OwnPool own;
  for (const bool on_another_thread : {false, true}) {
    MemoryAccount* const account = MemoryAccount::Open();
    std::vector<BufferRef> buffers;
    {
      const TaskMemory task(&own.pool, account, 0);
      for (int i = 0; i < 3; ++i) buffers.push_back(BufferPool::Current().Allocate(kBytes));
    }
    account->Close();
    buffers.pop_back();
    EXPECT_EQ(account->held(), 2 * kCharge);
    // The last one frees the account; the sanitizers see whether it is freed once.
    if (on_another_thread) {
      std::thread([moved = std::move(buffers)]() mutable { moved.clear(); }).join();
    } else {
      buffers.clear();
    }
  }
}

// Buffers allocated by some threads and freed by others, small and large, from the global pool and from its own.
TEST(BufferPool, ThreadsPassBuffersOn) {
  OwnPool own;
  const Account account;
  const int64_t before = BufferPool::Global().outstanding_bytes();
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<BufferRef> passed;
  int makers = 2;
  std::vector<std::thread> threads;
  for (int maker = 0; maker < 2; ++maker) {
    threads.emplace_back([&, maker] {
      for (int i = 0; i < kRounds / 10; ++i) {
        BufferPool* pool = i % 2 == 0 ? &own.pool : &BufferPool::Global();
        const TaskMemory task(pool, account.get(), 0);
        const size_t bytes = Scramble(static_cast<uint64_t>(i * 2 + maker)) % 3000;
        BufferRef buffer = BufferPool::Current().Allocate(bytes);
        buffer->data()[0] = static_cast<uint8_t>(i);
        if (i % 5 == 0) continue;
        const std::lock_guard<std::mutex> lock(mutex);
        passed.push_back(std::move(buffer));
        changed.notify_one();
      }
      const std::lock_guard<std::mutex> lock(mutex);
      --makers;
      changed.notify_all();
    });
  }
  for (int freer = 0; freer < 2; ++freer) {
    threads.emplace_back([&] {
      while (true) {
        const TaskMemory task(&own.pool, account.get(), 0);
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return !passed.empty() || makers == 0; });
        if (passed.empty()) return;
        const BufferRef buffer = std::move(passed.front());
        passed.pop_front();
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(account->held(), 0);
  EXPECT_GT(account->peak(), 0);
  EXPECT_EQ(BufferPool::Global().outstanding_bytes(), before);
}

// Two that live at once never share memory.
TEST(BufferPool, LiveBuffersDoNotOverlap) {
  std::vector<BufferRef> buffers;
  std::set<const uint8_t*> places;
  for (int i = 0; i < 500; ++i) {
    buffers.push_back(BufferPool::Global().Allocate(static_cast<size_t>(i % 7) * 100));
    EXPECT_TRUE(places.insert(buffers.back()->data()).second);
    if (i % 3 == 0) {
      places.erase(buffers[buffers.size() / 2]->data());
      buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(buffers.size() / 2));
    }
  }
}

// At any moment of what other threads do with the pool.
TEST(BufferPool, AForkedChildLetsGoOfBuffers) {
  constexpr size_t kBytes = 2'000'000;
  WatchForks();
  BufferPool& pool = BufferPool::Global();
  std::atomic<bool> over{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back([&pool, &over] {
      while (!over.load()) {
        for (int each = 0; each < 4; ++each) pool.Allocate(kBytes);
        pool.Trim(0);
      }
    });
  }
  for (int fork_number = 0; fork_number < 200; ++fork_number) {
    std::vector<BufferRef> held;
    for (int each = 0; each < 3; ++each) held.push_back(pool.Allocate(kBytes));
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      held.clear();
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << fork_number;
    if (status != 0) break;
  }
  over.store(true);
  for (std::thread& other : others) other.join();
  std::printf("HEADRACE-COUNT forks=200\n");
}

}  // namespace
}  // namespace headrace
