#include "engine/device/result_memory.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <utility>

#include "core/fork_watch.h"
#include "engine/device/page_locked_memory.h"

namespace headrace {
namespace {

// Of the driver's interface, which all functions here have.
constexpr int kResultMemoryVersion = 12000;

class PageLockedOrPlain : public Allocator {
 public:
  explicit PageLockedOrPlain(int device) : page_locked_(PageLockedMemory::Of(device)), pool_(this) {}

  void* Allocate(size_t bytes) override {
    void* const memory = page_locked_.Allocate(bytes);
    return memory != nullptr ? memory : SystemAllocator()->Allocate(bytes);
  }
  void Free(void* memory, size_t bytes) override {
    Allocator* const owner = page_locked_.Has(memory) ? &page_locked_ : SystemAllocator();
    owner->Free(memory, bytes);
  }
  BufferPool& pool() { return pool_; }

 private:
  PageLockedMemory& page_locked_;
  BufferPool pool_;
};

// Never destroyed: users may hold buffers longer than any run.
BufferPool& PoolOf(int device) {
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::map<int, PageLockedOrPlain*>;
  const std::lock_guard<std::mutex> lock(*mutex);
  PageLockedOrPlain*& memory = (*all)[device];
  if (memory == nullptr) memory = new PageLockedOrPlain(device);
  return memory->pool();
}

template <typename Function>
Function Find(PFN_cuGetProcAddress_v12000 find, const char* name) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult how = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult result = find(name, &found, kResultMemoryVersion, CU_GET_PROC_ADDRESS_DEFAULT, &how);
  return result == CUDA_SUCCESS ? reinterpret_cast<Function>(found) : nullptr;
}

}  // namespace

bool HasActiveContext(int device) {
  if (device < 0 || LostInFork()) return false;
  // Who has a context has loaded the driver.
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const auto find = reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"));
  if (find == nullptr) return false;
  const auto device_get = Find<PFN_cuDeviceGet_v2000>(find, "cuDeviceGet");
  const auto state_of = Find<PFN_cuDevicePrimaryCtxGetState_v7000>(find, "cuDevicePrimaryCtxGetState");
  if (device_get == nullptr || state_of == nullptr) return false;
  CUdevice handle = 0;
  unsigned int flags = 0;
  int active = 0;
  // Both refuse where nobody has begun to use the driver.
  if (device_get(&handle, device) != CUDA_SUCCESS) return false;
  return state_of(handle, &flags, &active) == CUDA_SUCCESS && active != 0;
}

std::unique_ptr<ResultMemory> ResultMemory::Of(int device) {
  if (!HasActiveContext(device)) return nullptr;
  absl::StatusOr<std::shared_ptr<CudaContext>> context = CudaContext::Open(device);
  if (!context.ok()) return nullptr;
  return std::unique_ptr<ResultMemory>(new ResultMemory(*std::move(context), PoolOf(device)));
}

ResultMemory::~ResultMemory() { pool_.Trim(0); }

}  // namespace headrace
