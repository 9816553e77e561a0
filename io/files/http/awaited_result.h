// `AwaitedResult` waits for what completes later, and cancels it when the thread's StopSignal is raised.
// Threads: any thread.
#ifndef HEADRACE_IO_FILES_HTTP_AWAITED_RESULT_H_
#define HEADRACE_IO_FILES_HTTP_AWAITED_RESULT_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "core/stop_signal.h"

namespace headrace::http {

template <typename Value>
class AwaitedResult {
 public:
  void Set(absl::StatusOr<Value> result) {
    // Notified under the lock: the one that waits may destroy this at once.
    const std::lock_guard<std::mutex> lock(mutex_);
    result_ = std::move(result);
    came_.notify_all();
  }

  // `cancel` makes the result come soon; memory may be written to until it has come.
  absl::StatusOr<Value> Wait(const std::function<void()>& cancel) {
    constexpr std::chrono::milliseconds kInterval{50};
    std::unique_lock<std::mutex> lock(mutex_);
    while (!came_.wait_for(lock, kInterval, [this] { return result_.has_value(); })) {
      lock.unlock();
      const bool stops = StopSignal::Raised();
      if (stops) cancel();
      lock.lock();
      if (stops) came_.wait(lock, [this] { return result_.has_value(); });
    }
    return *std::move(result_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::optional<absl::StatusOr<Value>> result_;
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_AWAITED_RESULT_H_
