#include "engine/exec/worker_pool.h"

#include <pthread.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/block_signals.h"
#include "core/brief_lock.h"
#include "core/error.h"
#include "core/fork_watch.h"
#include "engine/plan/physical_plan.h"

namespace headrace {
void ClientQueue::PushBack(PoolClient* client) {
  if (std::exchange(client->waits_, true)) return;
  client->next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = client;
  last_ = client;
}

PoolClient* ClientQueue::PopFront() {
  PoolClient* const client = first_;
  first_ = client->next_;
  if (first_ == nullptr) last_ = nullptr;
  client->waits_ = false;
  return client;
}

void ClientQueue::Remove(PoolClient* client) {
  if (!std::exchange(client->waits_, false)) return;
  PoolClient* before = nullptr;
  for (PoolClient* each = first_; each != nullptr; before = std::exchange(each, each->next_)) {
    if (each != client) continue;
    (before == nullptr ? first_ : before->next_) = client->next_;
    if (last_ == client) last_ = before;
    return;
  }
}

WorkerPool::WorkerPool(std::string name, int threads, int cores)
    : name_(std::move(name)), cores_(std::max(1, cores)), wanted_(std::max(1, threads)) {}

WorkerPool::~WorkerPool() { Stop(); }

WorkerPool& WorkerPool::Cpu() {
  static WorkerPool* const pool = new WorkerPool("headrace-cpu", Cores(), Cores());
  return *pool;
}

WorkerPool& WorkerPool::Io() {
  static WorkerPool* const pool = new WorkerPool("headrace-io", PlannedStage::kFirstReads);
  return *pool;
}

void WorkerPool::StopShared() {
  if (LostInFork()) return;
  Cpu().Stop();
  Io().Stop();
}

int WorkerPool::Cores() {
  static const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return cores;
}

absl::Status NoMoreThreads(std::string_view name) {
  return ResourceError("the machine allows this process no more threads (", name,
                       " needs one): raise the limit (ulimit -u, or the container's), or run fewer pipelines at once; "
                       "iterate(executor=\"pull\") needs none");
}

absl::Status WorkerPool::Start() {
  const auto lock = BriefLock(mutex_);
  StartLocked();
  if (!workers_.empty() || stopping_) return absl::OkStatus();
  return NoMoreThreads(name_);
}

// False: the machine has no more threads.
bool WorkerPool::StartOneLocked(Rank& rank) {
  try {
    workers_.reserve(workers_.size() + 1);
    workers_.emplace_back([this, &rank] { Work(rank); });
    return true;
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  return false;
}

void WorkerPool::StartLocked() {
  const int missing = threads() - static_cast<int>(workers_.size()) - to_start_;
  if (missing <= 0 || stopping_) return;
  WatchForks();
  // Counts them as idle from now on, not when they come up, because they find what is signalled meanwhile.
  while (static_cast<int>(workers_.size()) < std::min(threads(), cores_) && StartOneLocked(front_)) {
    idle_.fetch_add(1, std::memory_order_relaxed);
    ++front_idle_;
  }
  const int reserve = std::max(0, threads() - cores_) - std::max(0, static_cast<int>(workers_.size()) - cores_);
  idle_.fetch_add(reserve - to_start_, std::memory_order_relaxed);
  to_start_ = reserve;
}

std::condition_variable* WorkerPool::CallUp(Rank& rank) {
  --rank.asleep;
  ++rank.called_up;
  return &rank.wake;
}

std::condition_variable* WorkerPool::WakeLocked() {
  const int light = light_.load(std::memory_order_relaxed);
  // Threads at work look again, or call BeginLongTask.
  if (light >= cores_) return nullptr;
  if (front_.asleep > 0) return CallUp(front_);
  // Idle threads of the front that are awake are about to look for work.
  if (light + front_idle_ >= cores_) return nullptr;
  if (reserve_.asleep > 0) return CallUp(reserve_);
  if (to_start_ == 0) return nullptr;
  if (StartOneLocked(reserve_)) {
    --to_start_;
  } else {
    // Does not try again until the next pipeline begins.
    idle_.fetch_sub(std::exchange(to_start_, 0), std::memory_order_relaxed);
  }
  return nullptr;
}

void WorkerPool::Signal(PoolClient* client) {
  if (client->queued_.exchange(true, std::memory_order_acq_rel)) return;
  std::condition_variable* wake = nullptr;
  {
    const auto lock = BriefLock(mutex_);
    if (client->removed_) return;
    ready_.PushBack(client);
    if (stopping_) return;
    if (workers_.empty()) StartLocked();
    wake = WakeLocked();
  }
  if (wake != nullptr) wake->notify_one();
}

void WorkerPool::BeginLongTask() {
  light_.fetch_sub(1);
  // Without a reserve, no thread was left asleep.
  if (threads() <= cores_) return;
  std::condition_variable* wake = nullptr;
  {
    const auto lock = BriefLock(mutex_);
    if (!ready_.empty()) wake = WakeLocked();
  }
  if (wake != nullptr) wake->notify_one();
}

void WorkerPool::EndLongTask() { light_.fetch_add(1, std::memory_order_relaxed); }

void WorkerPool::PassOn(PoolClient* client) {
  {
    const auto lock = BriefLock(mutex_);
    client->again_ = client->active_ > 0;
    if (client->again_) return;
  }
  Signal(client);
}

bool WorkerPool::Remove(PoolClient* client, Clock::time_point until) {
  auto lock = BriefLock(mutex_);
  client->removed_ = true;
  ready_.Remove(client);
  return left_.wait_until(lock, until, [client] { return client->active_ == 0; });
}

void WorkerPool::Remove(PoolClient* client) {
  while (!Remove(client, Clock::now() + std::chrono::hours(1))) {
  }
}

void WorkerPool::Grow(int threads) {
  const auto lock = BriefLock(mutex_);
  if (threads <= this->threads()) return;
  wanted_.store(threads);
  if (!workers_.empty()) StartLocked();
}

void WorkerPool::Stop() {
  const std::lock_guard<std::mutex> alone(stop_mutex_);
  std::vector<std::thread> workers;
  {
    const auto lock = BriefLock(mutex_);
    stopping_ = true;
    workers.swap(workers_);
    idle_.fetch_sub(std::exchange(to_start_, 0), std::memory_order_relaxed);
  }
  front_.wake.notify_all();
  reserve_.wake.notify_all();
  for (std::thread& worker : workers) worker.join();
  const auto lock = BriefLock(mutex_);
  stopping_ = false;
  // Lets their next signal through, which starts threads again.
  ready_.ForEach([](PoolClient* client) { client->queued_.store(false, std::memory_order_release); });
}

bool WorkerPool::HasWorkLocked(const Rank& rank) const {
  if (ready_.empty()) return false;
  return &rank == &front_ || light_.load() < cores_;
}

void WorkerPool::SleepLocked(Rank& rank, std::unique_lock<std::mutex>& lock) {
  while (!stopping_ && !HasWorkLocked(rank)) {
    ++rank.asleep;
    rank.wake.wait(lock, [this, &rank] { return stopping_ || rank.called_up > 0; });
    --(rank.called_up > 0 ? rank.called_up : rank.asleep);
  }
}

void WorkerPool::Work(Rank& rank) {
  const int front = &rank == &front_ ? 1 : 0;
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  BlockSignals();
  auto lock = BriefLock(mutex_);
  while (true) {
    SleepLocked(rank, lock);
    idle_.fetch_sub(1, std::memory_order_relaxed);
    front_idle_ -= front;
    if (stopping_) return;
    light_.fetch_add(1, std::memory_order_relaxed);
    PoolClient* const client = ready_.PopFront();
    ++client->active_;
    // Clears queued_ before looking for work, so that later work signals again.
    client->queued_.store(false, std::memory_order_release);
    lock.unlock();
    bool again = client->RunOne();
    lock = BriefLock(mutex_);
    again |= std::exchange(client->again_, false);
    light_.fetch_sub(1, std::memory_order_relaxed);
    idle_.fetch_add(1, std::memory_order_relaxed);
    front_idle_ += front;
    --client->active_;
    if (client->removed_) {
      if (client->active_ == 0) left_.notify_all();
    } else if (again && !client->queued_.exchange(true, std::memory_order_acq_rel)) {
      ready_.PushBack(client);
    }
  }
}

}  // namespace headrace
