#include "engine/device/page_locked_memory.h"

#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace headrace {

PageLockedMemory& PageLockedMemory::Of(int device) {
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::map<int, PageLockedMemory*>;
  const std::lock_guard<std::mutex> lock(*mutex);
  PageLockedMemory*& memory = (*all)[device];
  if (memory == nullptr) memory = new PageLockedMemory(device);
  return *memory;
}

void* PageLockedMemory::Allocate(size_t bytes) {
  const absl::StatusOr<void*> memory = Take(bytes);
  if (memory.ok()) return *memory;
  const std::lock_guard<std::mutex> lock(mutex_);
  ++refusals_;
  refusal_ = std::string(memory.status().message());
  return nullptr;
}

absl::StatusOr<void*> PageLockedMemory::Take(size_t bytes) {
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<CudaContext> context, CudaContext::Open(device_));
  const CudaScope scope(*context);
  HEADRACE_RETURN_IF_ERROR(scope.status());
  void* memory = nullptr;
  HEADRACE_RETURN_IF_ERROR(
      context->driver().Check(context->driver().MemHostAlloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE),
                              Cat("cuda:", device_, ": cuMemHostAlloc")));
  const std::lock_guard<std::mutex> lock(mutex_);
  taken_[reinterpret_cast<uintptr_t>(memory)] = {bytes, std::move(context)};
  return memory;
}

uint64_t PageLockedMemory::refusals() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return refusals_;
}

std::string PageLockedMemory::RefusalSince(uint64_t refusals) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return refusals_ > refusals ? refusal_ : "";
}

void PageLockedMemory::Free(void* memory, size_t /*bytes*/) {
  std::shared_ptr<CudaContext> context;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = taken_.find(reinterpret_cast<uintptr_t>(memory));
    context = std::move(found->second.context);
    taken_.erase(found);
  }
  const CudaScope scope(*context);
  if (scope.status().ok()) context->driver().MemFreeHost(memory);
}

bool PageLockedMemory::Has(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard<std::mutex> lock(mutex_);
  auto after = taken_.upper_bound(at);
  if (after == taken_.begin()) return false;
  --after;
  return at < after->first + after->second.bytes;
}

}  // namespace headrace
