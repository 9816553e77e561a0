#include "io/files/object_cache/disk_threads.h"

#include <system_error>
#include <utility>

#include "core/fork_watch.h"

namespace headrace::object_cache {

DiskThreads::~DiskThreads() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    ends_ = true;
    if (threads_.empty()) WorkHere(lock);
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void DiskThreads::Start(std::function<void()> task) {
  std::unique_lock<std::mutex> lock(mutex_);
  tasks_.push_back(std::move(task));
  if (!ends_ && idle_ < tasks_.size() && threads_.size() < kMost) {
    WatchForks();
    try {
      threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {
      // The others do it, or the caller.
    }
  }
  if (threads_.empty()) {
    WorkHere(lock);
    return;
  }
  lock.unlock();
  wake_.notify_one();
}

void DiskThreads::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    while (tasks_.empty() && !ends_) {
      ++idle_;
      wake_.wait(lock);
      --idle_;
    }
    if (tasks_.empty()) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

void DiskThreads::WorkHere(std::unique_lock<std::mutex>& lock) {
  if (std::exchange(works_here_, true)) return;
  while (!tasks_.empty()) {
    {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
    lock.lock();
  }
  works_here_ = false;
}

}  // namespace headrace::object_cache
