#include "capi/pool.h"

#include <unistd.h>

#include <algorithm>
#include <exception>

#include "core/block_signals.h"
#include "core/caught_error.h"

namespace headrace::capi {

Pool::Pool() : process_(getpid()) {}

absl::StatusOr<std::unique_ptr<Pool>> Pool::Make(uint32_t threads) {
  std::unique_ptr<Pool> pool(new Pool);
  try {
    pool->threads_.reserve(threads);
    for (uint32_t i = 0; i < threads; ++i) pool->threads_.emplace_back([pool = pool.get()] { pool->Work(); });
  } catch (const std::exception&) {
    return CaughtError();
  }
  return pool;
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wanted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Pool::is_here() const { return getpid() == process_; }

void Pool::Run(size_t count, absl::FunctionRef<void(size_t)> work) {
  Job job{.work = work, .count = count};
  // The caller's thread alone is quicker with a single one.
  if (count < 2) return Finish(job);
  {
    const std::lock_guard lock(mutex_);
    Append(job);
  }
  const size_t helpers = std::min(count - 1, threads_.size());
  for (size_t i = 0; i < helpers; ++i) wanted_.notify_one();
  Finish(job);
  std::unique_lock lock(mutex_);
  Remove(job);
  left_.wait(lock, [&job] { return job.helpers == 0; });
}

void Pool::Work() {
  BlockSignals();
  std::unique_lock lock(mutex_);
  while (true) {
    wanted_.wait(lock, [this] { return closing_ || first_ != nullptr; });
    if (closing_) return;
    Job& job = *first_;
    ++job.helpers;
    lock.unlock();
    Finish(job);
    lock.lock();
    Remove(job);
    // Its caller may destroy it from here on.
    if (--job.helpers == 0) left_.notify_all();
  }
}

void Pool::Finish(Job& job) {
  for (size_t i = job.next.fetch_add(1); i < job.count; i = job.next.fetch_add(1)) job.work(i);
}

void Pool::Append(Job& job) {
  Job** end = &first_;
  while (*end != nullptr) end = &(*end)->after;
  *end = &job;
}

void Pool::Remove(Job& job) {
  if (!job.listed) return;
  job.listed = false;
  Job** at = &first_;
  while (*at != &job) at = &(*at)->after;
  *at = job.after;
}

}  // namespace headrace::capi
