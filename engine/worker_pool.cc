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

WorkerPool::WorkerPool(std::string name, int threads) : name_(std::move(name)), wanted_(std::max(1, threads)) {}

WorkerPool::~WorkerPool() { Stop(); }

WorkerPool& WorkerPool::Cpu() {
  static WorkerPool* const pool = new WorkerPool("headrace-cpu", static_cast<int>(std::thread::hardware_concurrency()));
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
      workers_.emplace_back([this] { Work(); });
      // From now on, not when it comes up: what is signalled meanwhile it will find.
      idle_.fetch_add(1, std::memory_order_relaxed);
    }
  } catch (const std::system_error&) {
    // The machine has no more threads: those there are do the work.
    if (workers_.empty()) throw;
    wanted_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  }
}

void WorkerPool::Signal(PoolClient* client) {
  if (client->queued_.exchange(true, std::memory_order_acq_rel)) return;
  bool wake = false;
  {
    const auto lock = BriefLock(mutex_);
    if (client->removed_) return;
    ready_.push_back(client);
    if (stopping_) return;
    StartLocked();
    wake = idle_.load(std::memory_order_relaxed) > 0;
  }
  if (wake) work_.notify_one();
}

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
  wanted_.store(threads, std::memory_order_relaxed);
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
  work_.notify_all();
  for (std::thread& worker : workers) worker.join();
  const auto lock = BriefLock(mutex_);
  stopping_ = false;
  // Lets their next signal through, which starts threads again.
  for (PoolClient* client : ready_) client->queued_.store(false, std::memory_order_release);
}

void WorkerPool::Work() {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  BlockSignals();
  auto lock = BriefLock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
    idle_.fetch_sub(1, std::memory_order_relaxed);
    if (stopping_) return;
    PoolClient* client = ready_.front();
    ready_.pop_front();
    ++client->active_;
    // Clears the mark before looking for work: what comes later signals again.
    client->queued_.store(false, std::memory_order_release);
    lock.unlock();
    bool again = client->RunOne();
    lock = BriefLock(mutex_);
    again |= std::exchange(client->again_, false);
    idle_.fetch_add(1, std::memory_order_relaxed);
    --client->active_;
    if (client->removed_) {
      if (client->active_ == 0) left_.notify_all();
    } else if (again && !client->queued_.exchange(true, std::memory_order_acq_rel)) {
      ready_.push_back(client);
    }
  }
}

}  // namespace headrace
