// `Cancellation` ends calls early that complete later.
// Threads: any thread.
#ifndef HEADRACE_IO_FILES_S3_CANCELLATION_H_
#define HEADRACE_IO_FILES_S3_CANCELLATION_H_

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

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

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_CANCELLATION_H_
