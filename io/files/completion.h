// `Completion` is a result that some thread gives later, and that one thread waits for. The wait ends early when the
// work of the waiting thread should end (core/stop_signal.h); then the result is given to nobody.
// Threads: Give from any thread, once; is_given from any; Wait from one thread.
#ifndef HEADRACE_IO_FILES_COMPLETION_H_
#define HEADRACE_IO_FILES_COMPLETION_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "core/stop_signal.h"

namespace headrace {

template <typename T>
class Completion {
 public:
  void Give(absl::StatusOr<T> result) {
    const std::lock_guard<std::mutex> lock(mutex_);
    result_ = std::move(result);
    given_.notify_all();
  }
  bool is_given() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return result_.has_value();
  }
  // kClosed: the work of this thread should end.
  absl::StatusOr<T> Wait() {
    // Nobody notifies when a signal is raised: its flag may be set by a handler, and an interrupt is asked here.
    constexpr std::chrono::milliseconds kBetweenChecks{20};
    std::unique_lock<std::mutex> lock(mutex_);
    while (!given_.wait_for(lock, kBetweenChecks, [this] { return result_.has_value(); })) {
      lock.unlock();
      if (StopSignal::Raised()) return StopSignal::Error();
      lock.lock();
    }
    return *result_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable given_;
  std::optional<absl::StatusOr<T>> result_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_COMPLETION_H_
