#include "engine/worker_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "engine/brief_lock.h"
#include "engine/read_ahead.h"

namespace headrace {
namespace {

std::atomic<bool> threads_started{false};
std::atomic<bool> lost_in_fork{false};

void WatchForks() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, [] {
      if (threads_started.load()) lost_in_fork.store(true);
    });
  });
}

// Leaves signals to the threads of the program: Python expects them on its main thread.
void BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

WorkerPool::WorkerPool(std::string name, int threads, int cores)
    : name_(std::move(name)), cores_(std::max(1, cores)), wanted_(std::max(1, threads)) {}

WorkerPool::~WorkerPool() { Stop(); }

WorkerPool& WorkerPool::Cpu() {
  static const int cores = static_cast<int>(std::thread::hardware_concurrency());
  static WorkerPool* const pool = new WorkerPool("headrace-cpu", cores, cores);
  return *pool;
}

WorkerPool& WorkerPool::Io() {
  static WorkerPool* const pool = new WorkerPool("headrace-io", ReadAhead::kFirst);
  return *pool;
}

void WorkerPool::StopShared() {
  if (LostInFork()) return;
  Cpu().Stop();
  Io().Stop();
}

bool WorkerPool::LostInFork() { return lost_in_fork.load(std::memory_order_relaxed); }

void WorkerPool::StartLocked() {
  if (static_cast<int>(workers_.size()) >= threads()) return;
  WatchForks();
  threads_started.store(true);
  try {
    while (static_cast<int>(workers_.size()) < threads()) {
      const bool front = static_cast<int>(workers_.size()) < cores_;
      workers_.emplace_back([this, &rank = front ? front_ : reserve_] { Work(rank); });
      // From now on, not when it comes up: what is signalled meanwhile it will find.
      idle_.fetch_add(1, std::memory_order_relaxed);
      front_idle_ += front ? 1 : 0;
    }
  } catch (const std::system_error&) {
    // The machine has no more threads: those there are do the work.
    if (workers_.empty()) throw;
    wanted_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  }
}

std::condition_variable* WorkerPool::CallUp(Rank& rank) {
  --rank.asleep;
  ++rank.called_up;
  return &rank.wake;
}

std::condition_variable* WorkerPool::WakeLocked() {
  const int light = light_.load(std::memory_order_relaxed);
  // They look again, or say that they are in a long task.
  if (light >= cores_) return nullptr;
  if (front_.asleep > 0) return CallUp(front_);
  // Those in front who are idle and awake are on their way.
  if (light + front_idle_ >= cores_ || reserve_.asleep == 0) return nullptr;
  return CallUp(reserve_);
}

void WorkerPool::Signal(PoolClient* client) {
  if (client->queued_.exchange(true, std::memory_order_acq_rel)) return;
  std::condition_variable* wake = nullptr;
  {
    const auto lock = BriefLock(mutex_);
    if (client->removed_) return;
    ready_.push_back(client);
    if (stopping_) return;
    StartLocked();
    wake = WakeLocked();
  }
  if (wake != nullptr) wake->notify_one();
}

void WorkerPool::BeginLongTask() {
  light_.fetch_sub(1);
  // Without a reserve nobody was left asleep.
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

void WorkerPool::Remove(PoolClient* client) {
  auto lock = BriefLock(mutex_);
  client->removed_ = true;
  ready_.erase(std::remove(ready_.begin(), ready_.end(), client), ready_.end());
  left_.wait(lock, [client] { return client->active_ == 0; });
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
  }
  front_.wake.notify_all();
  reserve_.wake.notify_all();
  for (std::thread& worker : workers) worker.join();
  const auto lock = BriefLock(mutex_);
  stopping_ = false;
  // Lets their next signal through, which starts threads again.
  for (PoolClient* client : ready_) client->queued_.store(false, std::memory_order_release);
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
    PoolClient* client = ready_.front();
    ready_.pop_front();
    ++client->active_;
    // Clears the mark before looking for work: what comes later signals again.
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
      ready_.push_back(client);
    }
  }
}

}  // namespace headrace
