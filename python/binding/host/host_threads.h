// `HostThreads` runs calls of the user's file systems, which wait for a network under the interpreter's turns, on up to
// 16 threads of their own: the engine's threads never wait in them. Threads start at the first call and last as long as
// the process; a child that was forked starts its own. Threads: any thread, with or without the GIL.
#ifndef HEADRACE_PYTHON_BINDING_HOST_HOST_THREADS_H_
#define HEADRACE_PYTHON_BINDING_HOST_HOST_THREADS_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace headrace::python {

class HostThreads {
 public:
  static constexpr size_t kMost = 16;

  // Runs `work` on one of the threads, without the GIL, after what was started before. kResource: there is no thread.
  static absl::Status Start(std::function<void()> work);

  // The result of `work`, which keeps what it uses: this thread goes on with kClosed when its task is stopped, and the
  // work goes on without it. Called on one of the threads, or with the GIL, it works there.
  template <typename T>
  static absl::StatusOr<T> Ask(std::function<absl::StatusOr<T>()> work) {
    if (WorksHere()) return work();
    struct Answer {
      std::mutex mutex;
      std::condition_variable came;
      std::optional<absl::StatusOr<T>> result;
    };
    const auto answer = std::make_shared<Answer>();
    const absl::Status started = Start([answer, work = std::move(work)] {
      absl::StatusOr<T> result = work();
      const std::lock_guard<std::mutex> lock(answer->mutex);
      answer->result = std::move(result);
      answer->came.notify_all();
    });
    if (!started.ok()) return started;
    std::unique_lock<std::mutex> lock(answer->mutex);
    const absl::Status waited = Wait(lock, answer->came, [&] { return answer->result.has_value(); });
    if (!waited.ok()) return waited;
    return *std::move(answer->result);
  }

 private:
  static bool WorksHere();
  // kClosed: the task of this thread is stopped.
  static absl::Status Wait(std::unique_lock<std::mutex>& lock, std::condition_variable& came,
                           absl::FunctionRef<bool()> is_there);
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_HOST_HOST_THREADS_H_
