// `WorkerPool` holds the threads that run ready tasks of many pipelines. A client is one pipeline's share of one pool;
// clients that may have work are in a queue and take turns, one task each.
// Threads: all methods from any thread. No lock is held while a client runs. No thread polls: a client that gains work
// must be signalled, and a signal given while it runs makes it run again. Only Start and Grow need memory or new
// threads, and they make do with the threads there are.
#ifndef HEADRACE_ENGINE_EXEC_WORKER_POOL_H_
#define HEADRACE_ENGINE_EXEC_WORKER_POOL_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"

namespace headrace {

// The states of a client, and the transitions between them:
//
//   idle      It is not in the queue, and no thread is inside RunOne.
//   ready     It is in the queue (waits_). Signal puts it there, from any thread, whether it is idle or running.
//   running   Threads are inside RunOne (active_ of them). A worker that takes a ready client out of the queue runs it.
//             If RunOne ran a task, or PassOn was called meanwhile (again_), the worker makes the client ready again.
//   removed   Remove took it out of the queue for good (removed_). Signals do nothing, no further thread enters RunOne,
//             and Remove returns when the last one has left. Then the owner may destroy it.
//
// The pool's lock guards all of this but queued_, which is set from a signal until a worker has taken the client out of
// the queue: signals in between return without the lock. The worker clears it before RunOne looks for work, so that no
// later signal is lost.
class PoolClient {
 public:
  virtual ~PoolClient() = default;
  // Claims one task and runs it. False: there is none now. Throws nothing: it runs at the top of a thread.
  virtual bool RunOne() = 0;

 private:
  friend class WorkerPool;
  friend class ClientQueue;
  std::atomic<bool> queued_{false};
  PoolClient* next_ = nullptr;  // behind it in the queue
  bool waits_ = false;          // in the queue
  int active_ = 0;              // threads inside RunOne
  bool removed_ = false;
  bool again_ = false;  // the worker that runs it must make it ready again
};

// A queue of clients, linked through the clients themselves.
class ClientQueue {
 public:
  bool empty() const { return first_ == nullptr; }
  // Does nothing if the client is in the queue.
  void PushBack(PoolClient* client);
  PoolClient* PopFront();
  void Remove(PoolClient* client);
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (PoolClient* client = first_; client != nullptr; client = client->next_) visit(client);
  }

 private:
  PoolClient* first_ = nullptr;
  PoolClient* last_ = nullptr;
};

// The error of a run that needs a thread of this name and cannot start it.
absl::Status NoMoreThreads(std::string_view name);

class WorkerPool {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  // Threads start with Start or the first signal, those beyond `cores` on demand. `name` is what debuggers show, at
  // most 15 characters. `cores`: the number of threads that are awake for light tasks; kNoLimit if tasks mostly wait.
  WorkerPool(std::string name, int threads, int cores = kNoLimit);
  // Stops and joins. Every client must have been removed.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;

  // For computing: one thread a core.
  static WorkerPool& Cpu();
  // For reading files: threads that mostly wait.
  static WorkerPool& Io();
  // Joins the threads of the two above; they start again when needed. For the end of the process.
  static void StopShared();
  // Cores of the machine; at least 1.
  static int Cores();

  // Starts the missing threads, as many as the machine allows; fewer do the same work. kResource if it allows none.
  absl::Status Start();
  void Signal(PoolClient* client);
  // Called by a thread of the pool around a long task. The pool wakes no more threads than there are cores for light
  // tasks, because a thread at work looks for the next task sooner than another one wakes. A long task makes room for
  // one more thread.
  void BeginLongTask();
  void EndLongTask();
  // Called by a thread that ran a task of the client and leaves remaining work to others. If a worker is running the
  // client, it looks again when it is done; else a worker is woken.
  void PassOn(PoolClient* client);
  // Removes the client and waits until no thread runs it. False: a thread still ran it at `until`, so the client must
  // not be destroyed; Remove may be called again.
  bool Remove(PoolClient* client, Clock::time_point until);
  void Remove(PoolClient* client);
  // At least this many threads from now on.
  void Grow(int threads);
  int threads() const { return wanted_.load(); }
  int idle() const { return idle_.load(std::memory_order_relaxed); }
  // Whether a signal would wake a thread.
  bool Wakes() const { return idle() > 0 && light_.load(std::memory_order_relaxed) < cores_; }
  // Joins the threads. Clients with pending work wait for their next Signal().
  void Stop();

 private:
  // The first threads, as many as there are cores, are the front. The others are the reserve, which is started and
  // woken while the front is in long tasks. So light tasks always run on threads whose caches are warm.
  struct Rank {
    std::condition_variable wake;
    int asleep = 0;     // and not called up
    int called_up = 0;  // and not yet awake
  };

  bool StartOneLocked(Rank& rank);
  void StartLocked();
  // Returns what to notify once the lock is released.
  static std::condition_variable* CallUp(Rank& rank);
  // Picks a thread for the client that became ready last; null: none is to be woken, or a new one starts.
  std::condition_variable* WakeLocked();
  bool HasWorkLocked(const Rank& rank) const;
  void SleepLocked(Rank& rank, std::unique_lock<std::mutex>& lock);
  void Work(Rank& rank);

  const std::string name_;
  const int cores_;
  std::mutex stop_mutex_;
  std::mutex mutex_;
  Rank front_;
  Rank reserve_;
  std::condition_variable left_;
  ClientQueue ready_;
  std::vector<std::thread> workers_;
  int to_start_ = 0;  // threads of the reserve that start when needed; counted as idle
  std::atomic<int> wanted_;
  std::atomic<int> idle_{0};
  std::atomic<int> light_{0};  // threads at work, except those in a long task
  int front_idle_ = 0;
  bool stopping_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_WORKER_POOL_H_
