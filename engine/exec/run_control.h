// `RunControl` holds what the stages of one pipeline share: its budget, its end, and the signals for changes.
// Threads: all methods from any thread; only faults take a lock.
#ifndef HEADRACE_ENGINE_EXEC_RUN_CONTROL_H_
#define HEADRACE_ENGINE_EXEC_RUN_CONTROL_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "core/buffer.h"
#include "engine/operator/host.h"
#include "engine/plan/planned_device.h"

namespace headrace {

class Profiler;
class Stage;

class RunControl {
 public:
  static constexpr int64_t kNoBudget = MemoryAccount::kNoBudget;

  // `page_locked`: of memory that a device reads; null: nothing is sent to one that has such memory. Both pools share
  // one budget.
  RunControl(BufferPool* pool, BufferPool* page_locked, int64_t budget)
      : pools_{pool, page_locked == nullptr ? pool : page_locked},
        account_(MemoryAccount::Open(budget)),
        budget_(budget) {
    if (budget_ == kNoBudget) return;
    pools_[0]->AddBudget(budget_);
    if (pools_[1] != pools_[0]) pools_[1]->AddBudget(budget_);
  }
  virtual ~RunControl() {
    if (budget_ != kNoBudget) {
      pools_[0]->RemoveBudget(budget_);
      if (pools_[1] != pools_[0]) pools_[1]->RemoveBudget(budget_);
    }
    account_->Close();
  }
  RunControl(const RunControl&) = delete;

  // The stage may be able to run now.
  virtual void Signal(Stage* stage) = 0;
  virtual void SignalAll() = 0;
  // Whether a result is ready for the user.
  virtual bool ResultReady() = 0;
  // The lock of the user's language, for a task that calls it for several rows; null: each call takes it.
  virtual std::unique_ptr<HostLock> LockHost() { return nullptr; }
  // Reports bytes held by an operator; releases cache memory if needed.
  virtual void MakeRoom(int64_t /*held*/) {}

  // Bytes that the next tasks of idle stages are expected to take: stages, other than `besides`, with no output queued
  // and no task running.
  virtual int64_t NeedsOfIdle(const Stage* besides) = 0;

  // Reserves `bytes` for a task if `left` more stay free. True: the caller must call Leave(). False: over the budget.
  bool Enter(int64_t bytes, int64_t left);
  // The next Leave(), or the next result that the user takes, wakes all stages. Call this before trying Enter again.
  void AwaitMemory() { memory_waiters_.store(true, std::memory_order_seq_cst); }
  // Admits one task over the budget if nothing runs, no result is ready, and `needed`, called once nothing else can
  // begin, returns true.
  template <typename Needed>
  bool EnterOverBudget(int64_t bytes, Needed needed) {
    int nothing = 0;
    if (ResultReady() || !running_.compare_exchange_strong(nothing, 1, std::memory_order_seq_cst)) return false;
    if (ResultReady() || !needed()) {
      Leave();
      return false;
    }
    account_->Charge(bytes);
    return true;
  }
  void Leave();
  void WakeMemoryWaiters() {
    if (memory_waiters_.exchange(false, std::memory_order_seq_cst)) SignalAll();
  }

  // Call within a catch handler. Ends everything, because what the task had claimed is lost. `where` names the stage.
  // Throws nothing; the first fault is kept.
  void Abort(const std::string& where);
  // Why it was aborted; ok: it was not.
  absl::Status fault() const;

  bool closed() const { return closed_.load(std::memory_order_acquire); }
  const std::atomic<bool>* closed_flag() const { return &closed_; }
  void SetClosed() { closed_.store(true, std::memory_order_release); }
  BufferPool* pool(MemoryKind kind) const { return pools_[static_cast<size_t>(kind)]; }
  MemoryAccount* account() const { return account_; }
  int64_t budget() const { return budget_; }
  // Null: no profile is taken. Set before anything runs.
  Profiler* profiler() const { return profiler_; }
  void set_profiler(Profiler* profiler) { profiler_ = profiler; }

 private:
  const std::array<BufferPool*, 2> pools_;  // by kind
  MemoryAccount* const account_;
  const int64_t budget_;
  // Called by Abort: the user may be waiting for a result that will not come.
  virtual void Aborted() {}

  Profiler* profiler_ = nullptr;
  mutable std::mutex fault_mutex_;
  absl::Status fault_;  // under fault_mutex_
  std::atomic<int> running_{0};
  std::atomic<bool> memory_waiters_{false};
  std::atomic<bool> closed_{false};
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_RUN_CONTROL_H_
