#include "engine/device/cuda_driver.h"

#include <dlfcn.h>

#include <map>
#include <mutex>

#include "core/error.h"
#include "core/fork_watch.h"
#include "core/text.h"

namespace headrace {
namespace {

// Of the driver's interface: all functions have it, and CUDA 12.0 is from 2022.
constexpr int kCudaDriverVersion = 12000;

std::string VersionText(int version) { return Cat(version / 1000, ".", version % 1000 / 10); }

absl::StatusOr<PFN_cuGetProcAddress_v12000> Library() {
  // Never closed, as calls may come as late as the process ends.
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    return UnsupportedError(
        "no CUDA device can be used: NVIDIA's driver is not installed here, or not shown to this container: ",
        reason == nullptr ? "libcuda.so.1 was not found" : reason);
  }
  const auto find = reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"));
  if (find == nullptr) {
    return UnsupportedError("no CUDA device can be used: NVIDIA's driver is older than CUDA ",
                            VersionText(kCudaDriverVersion), ": install a newer one");
  }
  return find;
}

absl::Status Fill(CudaDriver& driver) {
  HEADRACE_ASSIGN_OR_RETURN(const PFN_cuGetProcAddress_v12000 find, Library());
  std::string_view missing;
  const auto fill = [&](const char* name, auto& function) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult how = CU_GET_PROC_ADDRESS_SUCCESS;
    const CUresult result = find(name, &found, kCudaDriverVersion, CU_GET_PROC_ADDRESS_DEFAULT, &how);
    if (result != CUDA_SUCCESS || found == nullptr) missing = name;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
  };
#define HEADRACE_USE(name, version) fill("cu" #name, driver.name);
  HEADRACE_CUDA_FUNCTIONS(HEADRACE_USE)
#undef HEADRACE_USE
  if (missing.empty()) return absl::OkStatus();
  return UnsupportedError("no CUDA device can be used: NVIDIA's driver has no ", missing, ": install one for CUDA ",
                          VersionText(kCudaDriverVersion), " or newer");
}

absl::Status LostDriver() {
  return UnsupportedError(
      "this process was forked after CUDA or Headrace's threads had started, which a fork does not copy: start workers "
      "with the 'spawn' method, or fork before the first iteration");
}

absl::Status Begin(const CudaDriver& driver) {
  const CUresult begun = driver.Init(0);
  // Another library has used it before the fork.
  if (begun == CUDA_ERROR_NOT_INITIALIZED) return LostDriver();
  if (absl::Status status = driver.Check(begun, "cuInit"); !status.ok()) {
    return UnsupportedError("no CUDA device can be used: ", status.message());
  }
  int version = 0;
  HEADRACE_RETURN_IF_ERROR(driver.Check(driver.DriverGetVersion(&version), "cuDriverGetVersion"));
  if (version >= kCudaDriverVersion) return absl::OkStatus();
  return UnsupportedError("no CUDA device can be used: NVIDIA's driver is for CUDA ", VersionText(version),
                          ", and this needs one for ", VersionText(kCudaDriverVersion), " or newer");
}

struct Contexts {
  std::mutex mutex;
  std::map<int, std::weak_ptr<CudaContext>> open;
};

Contexts& AllContexts() {
  static auto* const contexts = new Contexts;
  return *contexts;
}

}  // namespace

absl::StatusOr<const CudaDriver*> CudaDriver::Load() {
  // Before the lock, which a thread of the parent may hold.
  if (LostInFork()) return LostDriver();
  static auto* const mutex = new std::mutex;
  static const CudaDriver* loaded = nullptr;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (loaded != nullptr) return loaded;
  auto driver = std::make_unique<CudaDriver>();
  HEADRACE_RETURN_IF_ERROR(Fill(*driver));
  HEADRACE_RETURN_IF_ERROR(Begin(*driver));
  WatchForks();
  loaded = driver.release();
  return loaded;
}

absl::Status CudaDriver::Check(CUresult result, std::string_view call) const {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  const char* name = nullptr;
  const char* words = nullptr;
  GetErrorName(result, &name);
  GetErrorString(result, &words);
  return ResourceError(call, " failed: ", words == nullptr ? "an unknown error" : words, " (",
                       name == nullptr ? Cat(static_cast<int>(result)) : std::string(name), ")");
}

absl::StatusOr<std::shared_ptr<CudaContext>> CudaContext::Open(int number) {
  HEADRACE_ASSIGN_OR_RETURN(const CudaDriver* const driver, CudaDriver::Load());
  Contexts& contexts = AllContexts();
  const std::lock_guard<std::mutex> lock(contexts.mutex);
  std::weak_ptr<CudaContext>& known = contexts.open[number];
  if (std::shared_ptr<CudaContext> open = known.lock()) return open;
  int count = 0;
  HEADRACE_RETURN_IF_ERROR(driver->Check(driver->DeviceGetCount(&count), "cuDeviceGetCount"));
  if (number >= count) {
    return UnsupportedError("there is no device cuda:", number, ": this process sees ", count,
                            count == 1 ? " CUDA device" : " CUDA devices", ", numbered from 0");
  }
  CUdevice device = 0;
  HEADRACE_RETURN_IF_ERROR(driver->Check(driver->DeviceGet(&device, number), "cuDeviceGet"));
  CUcontext handle = nullptr;
  HEADRACE_RETURN_IF_ERROR(driver->Check(driver->DevicePrimaryCtxRetain(&handle, device), "cuDevicePrimaryCtxRetain"));
  std::shared_ptr<CudaContext> context(new CudaContext(driver, device, handle));
  known = context;
  return context;
}

CudaContext::~CudaContext() { driver_->DevicePrimaryCtxRelease(device_); }

CudaScope::CudaScope(const CudaContext& context) : driver_(context.driver()) {
  status_ = driver_.Check(driver_.CtxPushCurrent(context.handle()), "cuCtxPushCurrent");
  if (!status_.ok()) return;
  status_ = driver_.Check(driver_.ThreadExchangeStreamCaptureMode(&mode_), "cuThreadExchangeStreamCaptureMode");
  CUcontext popped = nullptr;
  if (!status_.ok()) driver_.CtxPopCurrent(&popped);
}

CudaScope::~CudaScope() {
  if (!status_.ok()) return;
  driver_.ThreadExchangeStreamCaptureMode(&mode_);
  CUcontext popped = nullptr;
  driver_.CtxPopCurrent(&popped);
}

}  // namespace headrace
