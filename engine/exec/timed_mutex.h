// `TimedMutex` is a recursive mutex with a timed wait. It replaces std::recursive_timed_mutex, because ThreadSanitizer
// does not see the call by which that waits on the steady clock.
// Threads: any thread; the thread that locked it unlocks it. The thread that locked it last may destroy it.
#ifndef HEADRACE_ENGINE_EXEC_TIMED_MUTEX_H_
#define HEADRACE_ENGINE_EXEC_TIMED_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace headrace {

class TimedMutex {
 public:
  void lock() {
    std::unique_lock<std::mutex> lock(mutex_);
    free_.wait(lock, [this] { return MayLock(); });
    Own();
  }

  bool try_lock_until(std::chrono::steady_clock::time_point until) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!free_.wait_until(lock, until, [this] { return MayLock(); })) return false;
    Own();
    return true;
  }

  void unlock() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--depth_ > 0) return;
    owner_ = std::thread::id();
    // Under the lock, because the woken thread may destroy this.
    free_.notify_one();
  }

 private:
  bool MayLock() const { return depth_ == 0 || owner_ == std::this_thread::get_id(); }
  void Own() {
    owner_ = std::this_thread::get_id();
    ++depth_;
  }

  std::mutex mutex_;
  std::condition_variable free_;
  std::thread::id owner_;
  int depth_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_TIMED_MUTEX_H_
