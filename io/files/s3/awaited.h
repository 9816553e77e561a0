// `Awaited` waits for the result of calls that complete later, and `Cancellation` ends such calls early.
// Threads: any thread.
#ifndef HEADRACE_IO_FILES_S3_AWAITED_H_
#define HEADRACE_IO_FILES_S3_AWAITED_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/stop_signal.h"

namespace headrace::s3 {

class Cancellation {
 public:
  // `end` ends a call, unless it has ended; called at once if all are cancelled already.
  void Add(std::function<void()> end) {
    {
      const std::lock_guard lock(mutex_);
      if (!cancelled_) {
        ends_.push_back(std::move(end));
        return;
      }
    }
    end();
  }
  void Cancel() {
    std::vector<std::function<void()>> ends;
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
      ends.swap(ends_);
    }
    for (const std::function<void()>& end : ends) end();
  }

 private:
  std::mutex mutex_;
  bool cancelled_ = false;
  std::vector<std::function<void()>> ends_;
};

template <typename T>
class Awaited {
 public:
  void Set(absl::StatusOr<T> result) {
    // Notifies with the lock held: whoever waits may destroy this next.
    const std::lock_guard lock(mutex_);
    result_ = std::move(result);
    came_.notify_all();
  }

  // Cancels the calls when the thread's StopSignal is raised, and waits until they have ended.
  absl::StatusOr<T> Wait(Cancellation& cancellation) {
    constexpr std::chrono::milliseconds kInterval{50};
    std::unique_lock lock(mutex_);
    bool cancelled = false;
    while (!result_.has_value()) {
      came_.wait_for(lock, kInterval);
      if (cancelled || result_.has_value()) continue;
      // Calls may end on this thread.
      lock.unlock();
      cancelled = StopSignal::Raised();
      if (cancelled) cancellation.Cancel();
      lock.lock();
    }
    return *std::move(result_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::optional<absl::StatusOr<T>> result_;
};

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_AWAITED_H_
