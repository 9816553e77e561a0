// `PageLockedMemory` allocates page-locked host memory, from which a device copies by itself. Taking some costs a
// system call of milliseconds, so a pool keeps it for reuse; it belongs to the device's context, which stays open while
// any is taken.
// Threads: any thread.
#ifndef HEADRACE_ENGINE_DEVICE_PAGE_LOCKED_MEMORY_H_
#define HEADRACE_ENGINE_DEVICE_PAGE_LOCKED_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/buffer.h"
#include "engine/device/cuda_driver.h"

namespace headrace {

class PageLockedMemory : public Allocator {
 public:
  // Returns the memory of the device with this number. Never destroyed: users may hold bytes in it longer than any run.
  static PageLockedMemory& Of(int device);

  void* Allocate(size_t bytes) override;
  void Free(void* memory, size_t bytes) override;
  bool Has(const void* address);
  // How often it gave none; and why the last time, or empty if that was not after the given number of times.
  uint64_t refusals();
  std::string RefusalSince(uint64_t refusals);
  BufferPool& pool() { return pool_; }

 private:
  explicit PageLockedMemory(int device) : device_(device), pool_(this) {}

  struct Taken {
    size_t bytes;
    std::shared_ptr<CudaContext> context;
  };
  absl::StatusOr<void*> Take(size_t bytes);

  const int device_;
  std::mutex mutex_;
  std::map<uintptr_t, Taken> taken_;  // under mutex_
  uint64_t refusals_ = 0;             // under mutex_
  std::string refusal_;               // the last one's message; under mutex_
  BufferPool pool_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_PAGE_LOCKED_MEMORY_H_
