#include "python/binding/host/host_threads.h"

#include <Python.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <system_error>
#include <thread>

#include "core/error.h"
#include "core/stop_signal.h"
#include "python/binding/values/forkable_work.h"

namespace headrace::python {
namespace {

// How often a thread that waits looks whether it still should.
constexpr std::chrono::milliseconds kLooksEvery{50};

thread_local bool is_host_thread = false;

class HostQueue {
 public:
  absl::Status Add(std::function<void()> work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(std::move(work));
    if (waiting_.size() > idle_ && threads_ < HostThreads::kMost && !AddThread() && threads_ == 0) {
      waiting_.pop_back();
      return ResourceError("the machine has no thread for the calls of a file system of Python's");
    }
    added_.notify_one();
    return absl::OkStatus();
  }

 private:
  // With the lock.
  bool AddThread() {
    try {
      std::thread([this] { Serve(); }).detach();
      ++threads_;
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  [[noreturn]] void Serve() {
    is_host_thread = true;
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      ++idle_;
      added_.wait(lock, [this] { return !waiting_.empty(); });
      --idle_;
      std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
      // What it holds may be the last to hold it.
      work = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::function<void()>> waiting_;
  size_t idle_ = 0;
  size_t threads_ = 0;
};

// Of this process: of a parent's no thread exists in a child. Lives as long as the process.
HostQueue& QueueHere() {
  struct Made {
    pid_t process;
    HostQueue* queue;
  };
  static std::atomic<const Made*> latest{nullptr};
  const Made* made = latest.load(std::memory_order_acquire);
  while (made == nullptr || made->process != getpid()) {
    const auto* const own = new Made{getpid(), new HostQueue};
    if (latest.compare_exchange_strong(made, own, std::memory_order_acq_rel)) return *own->queue;
    delete own->queue;
    delete own;
  }
  return *made->queue;
}

}  // namespace

absl::Status HostThreads::Start(std::function<void()> work) { return QueueHere().Add(std::move(work)); }

bool HostThreads::WorksHere() { return is_host_thread || PyGILState_Check() != 0; }

absl::Status HostThreads::Wait(std::unique_lock<std::mutex>& lock, std::condition_variable& came,
                               absl::FunctionRef<bool()> is_there) {
  // A thread that forks keeps the GIL while it waits for work to end, and this work needs it.
  const WorkingHold::Pause pause;
  while (!came.wait_for(lock, kLooksEvery, is_there)) {
    lock.unlock();
    const bool stopped = StopSignal::Raised();
    lock.lock();
    if (stopped && !is_there()) return StopSignal::Error();
  }
  return absl::OkStatus();
}

}  // namespace headrace::python
