// Threads that run ready tasks of many pipelines. A client is one pipeline's share of one pool; clients that may have
// work stand in a queue and take turns, one task each.
// Thread contract: all methods from any thread. No lock is held while a client runs. Nothing is polled: a client that
// gains work must be signalled, and a signal given while it runs makes it run again. Nothing but Start and Grow needs
// memory or a new thread, and they get by with those there are.
#ifndef HEADRACE_ENGINE_EXEC_WORKER_POOL_H_
#define HEADRACE_ENGINE_EXEC_WORKER_POOL_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"

namespace headrace {

class PoolClient {
 public:
  virtual ~PoolClient() = default;
  // Claims one task and runs it. False: there is none now. Throws nothing: it runs at the top of a thread.
  virtual bool RunOne() = 0;

 private:
  friend class WorkerPool;
  friend class ClientQueue;
  std::atomic<bool> queued_{false};
  PoolClient* next_ = nullptr;  // behind it in the queue; under the pool's lock
  bool waits_ = false;          // in the queue; under the pool's lock
  int active_ = 0;              // threads inside RunOne; under the pool's lock
  bool removed_ = false;        // under the pool's lock
  bool again_ = false;          // who runs it looks again; under the pool's lock
};

// Clients in the order in which they came, linked through themselves.
class ClientQueue {
 public:
  bool empty() const { return first_ == nullptr; }
  // Leaves one that is in it where it is.
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

class WorkerPool {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  // Threads start with Start or the first signal, those beyond `cores` when they are called up. `name` is what
  // debuggers show; at most 15 characters. `cores`: so many threads are awake for light tasks; kNoLimit where tasks
  // mostly wait.
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
  // True in a child that was forked from a process whose shared pools had threads: they are not here.
  static bool LostInFork();
  // Of the machine; at least 1.
  static int Cores();

  // Starts the threads that are missing, as far as the machine has any: fewer do the same work. kResource: there is not
  // one.
  absl::Status Start();
  void Signal(PoolClient* client);
  // What a thread of the pool says around a task that is not soon over. Without such, no more threads are woken than
  // there are cores: they look for work again sooner than another wakes, which would only take turns with them. A long
  // task makes room for one more.
  void BeginLongTask();
  void EndLongTask();
  // From a thread that ran a task of the client and will not look again: a thread that runs one looks again when it is
  // done, whatever comes of it; where none does, one is woken.
  void PassOn(PoolClient* client);
  // Takes the client out and waits until no thread runs it. Later signals do nothing. False: a thread still ran it at
  // `until`, and the client must stay; it may be removed again.
  bool Remove(PoolClient* client, Clock::time_point until);
  void Remove(PoolClient* client);
  // At least this many threads from now on.
  void Grow(int threads);
  int threads() const { return wanted_.load(); }
  int idle() const { return idle_.load(std::memory_order_relaxed); }
  // A signal would wake a thread.
  bool Wakes() const { return idle() > 0 && light_.load(std::memory_order_relaxed) < cores_; }
  // Joins the threads. Clients with work left rest until anybody signals again.
  void Stop();

 private:
  // As many threads as there are cores stand in front. The others are the reserve: they are called up, and started,
  // when those in front are in long tasks, so that light ones always run where their memory is warm.
  struct Rank {
    std::condition_variable wake;
    int asleep = 0;     // and not called up
    int called_up = 0;  // and not yet awake
  };

  bool StartOneLocked(Rank& rank);
  void StartLocked();
  // Say whom to notify, once the lock is free.
  static std::condition_variable* CallUp(Rank& rank);
  // For what became ready last; null: nobody, or one who starts.
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
  int to_start_ = 0;  // of the reserve, when they are called up; counted as idle
  std::atomic<int> wanted_;
  std::atomic<int> idle_{0};
  std::atomic<int> light_{0};  // threads at work, but for those in a long task
  int front_idle_ = 0;
  bool stopping_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_WORKER_POOL_H_
