// `Pool` runs numbered work on threads that wait for it, and on the thread that asks. Those who ask at once share the
// threads; each of them works, too, so that nobody waits for work that nobody does.
// Threads: any thread calls Run, any number at once; one makes and destroys the pool.
#ifndef HEADRACE_CAPI_POOL_H_
#define HEADRACE_CAPI_POOL_H_

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace headrace::capi {

class Pool {
 public:
  // kResource if threads cannot be started.
  static absl::StatusOr<std::unique_ptr<Pool>> Make(uint32_t threads);
  ~Pool();
  Pool(const Pool&) = delete;

  // Whether this is the process that made it; a child of fork() has none of its threads.
  bool is_here() const;
  // Calls `work` with 0 ... count - 1, each once, and returns when all calls have. `work` does not throw.
  void Run(size_t count, absl::FunctionRef<void(size_t)> work);

 private:
  struct Job {
    absl::FunctionRef<void(size_t)> work;
    size_t count;
    std::atomic<size_t> next{0};
    size_t helpers = 0;  // threads of the pool that are at it
    bool listed = true;
    Job* after = nullptr;
  };

  Pool();
  void Work();
  static void Finish(Job& job);
  void Append(Job& job);
  void Remove(Job& job);

  const pid_t process_;
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::condition_variable left_;
  Job* first_ = nullptr;  // of those that have numbers left
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace headrace::capi

#endif  // HEADRACE_CAPI_POOL_H_
