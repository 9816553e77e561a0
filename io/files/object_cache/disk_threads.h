// `DiskThreads` runs tasks that read and write files of the cache, so that neither the threads of a network nor those
// that ask for reads wait for the disk. Its threads start when they are needed; where none can be started, the caller
// runs the task. Threads: any thread.
#ifndef HEADRACE_IO_FILES_OBJECT_CACHE_DISK_THREADS_H_
#define HEADRACE_IO_FILES_OBJECT_CACHE_DISK_THREADS_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace headrace::object_cache {

class DiskThreads {
 public:
  static constexpr size_t kMost = 4;

  DiskThreads() = default;
  // Runs what was started first.
  ~DiskThreads();
  DiskThreads(const DiskThreads&) = delete;

  void Start(std::function<void()> task);

 private:
  void Work();
  // Runs tasks on the calling thread until there are none, unless another thread, or this one, does so already.
  void WorkHere(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool works_here_ = false;
  bool ends_ = false;
};

}  // namespace headrace::object_cache

#endif  // HEADRACE_IO_FILES_OBJECT_CACHE_DISK_THREADS_H_
