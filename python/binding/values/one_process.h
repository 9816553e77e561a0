// `OneProcess` holds what writes a file for Python. Calls take turns, and only the process that made it may use it: in
// a forked child it is a copy, whose draft is the parent's. Threads: any thread, with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_ONE_PROCESS_H_
#define HEADRACE_PYTHON_BINDING_VALUES_ONE_PROCESS_H_

#include <unistd.h>

#include <memory>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {

template <typename T>
class __attribute__((visibility("hidden"))) OneProcess {
 public:
  explicit OneProcess(std::unique_ptr<T> held) : held_(std::move(held)) {}
  ~OneProcess() {
    if (getpid() != process_) static_cast<void>(held_.release());
  }
  OneProcess(const OneProcess&) = delete;

  // The result of `work`, called with what is held. UnsupportedError in a forked child, ClosedError after an end.
  template <typename Result, typename F>
  Result Work(const F& work) {
    return RunInAnyProcess([&]() -> Result {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (getpid() != process_) return UnsupportedError("this file is written by the process that forked this one");
      if (held_ == nullptr) return MakeError(ErrorKind::kClosed, "the file that is written was closed");
      return work(*held_);
    });
  }

  // Ends it by a method. After an error what is held stays, to be kept or discarded.
  void End(absl::Status (T::*end)()) {
    RaiseIfError(Work<absl::Status>([&](T& held) {
      absl::Status ended = (held.*end)();
      if (ended.ok()) held_.reset();
      return ended;
    }));
  }

  // Drops what was written. Does nothing after another end, nor in a forked child.
  void Discard() {
    RunInAnyProcess([&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (getpid() == process_) held_.reset();
    });
  }

 private:
  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::unique_ptr<T> held_;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_ONE_PROCESS_H_
