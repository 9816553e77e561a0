// `CudaDriver` is the CUDA driver's own API, loaded when it is first needed: nothing of CUDA is linked, so that one
// module serves machines with and without a GPU.
// Threads: any thread. Calls of the table need a current context (CudaScope) where the driver says so.
#ifndef HEADRACE_ENGINE_DEVICE_CUDA_DRIVER_H_
#define HEADRACE_ENGINE_DEVICE_CUDA_DRIVER_H_

#include <cuda.h>
#include <cudaTypedefs.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace headrace {

// Name without "cu", and the version of its binary interface.
#define HEADRACE_CUDA_FUNCTIONS(USE)          \
  USE(Init, 2000)                             \
  USE(DriverGetVersion, 2020)                 \
  USE(GetErrorName, 6000)                     \
  USE(GetErrorString, 6000)                   \
  USE(DeviceGet, 2000)                        \
  USE(DeviceGetCount, 2000)                   \
  USE(DevicePrimaryCtxRetain, 7000)           \
  USE(DevicePrimaryCtxRelease, 11000)         \
  USE(CtxPushCurrent, 4000)                   \
  USE(CtxPopCurrent, 4000)                    \
  USE(CtxSynchronize, 2000)                   \
  USE(ThreadExchangeStreamCaptureMode, 10010) \
  USE(MemGetInfo, 3020)                       \
  USE(MemAlloc, 3020)                         \
  USE(MemFree, 3020)                          \
  USE(MemHostAlloc, 2020)                     \
  USE(MemFreeHost, 2000)                      \
  USE(MemcpyHtoDAsync, 3020)                  \
  USE(MemcpyDtoHAsync, 3020)                  \
  USE(StreamCreateWithPriority, 5050)         \
  USE(StreamDestroy, 4000)                    \
  USE(StreamSynchronize, 2000)                \
  USE(StreamWaitEvent, 3020)                  \
  USE(StreamIsCapturing, 10000)               \
  USE(StreamGetCtx, 9020)                     \
  USE(EventCreate, 2000)                      \
  USE(EventDestroy, 4000)                     \
  USE(EventRecord, 2000)                      \
  USE(EventSynchronize, 2000)                 \
  USE(ModuleLoadData, 2000)                   \
  USE(ModuleGetFunction, 2000)                \
  USE(ModuleUnload, 2000)                     \
  USE(LaunchKernel, 4000)

struct CudaDriver {
#define HEADRACE_USE(name, version) PFN_cu##name##_v##version name = nullptr;
  HEADRACE_CUDA_FUNCTIONS(HEADRACE_USE)
#undef HEADRACE_USE

  // kUnsupported, with what is missing: the driver, a newer one, a device; or that a fork lost it.
  static absl::StatusOr<const CudaDriver*> Load();

  // Ok, or kResource with the call and the driver's own words.
  absl::Status Check(CUresult result, std::string_view call) const;
};

// The primary context of a device, which other libraries in the process use, too.
class CudaContext {
 public:
  // The one that is open, if there is one.
  static absl::StatusOr<std::shared_ptr<CudaContext>> Open(int number);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;

  const CudaDriver& driver() const { return *driver_; }
  CUcontext handle() const { return handle_; }

 private:
  CudaContext(const CudaDriver* driver, CUdevice device, CUcontext handle)
      : driver_(driver), device_(device), handle_(handle) {}

  const CudaDriver* const driver_;
  const CUdevice device_;
  const CUcontext handle_;
};

// During its life, the context is this thread's, and a graph that another library captures does not forbid calls.
class CudaScope {
 public:
  explicit CudaScope(const CudaContext& context);
  ~CudaScope();
  CudaScope(const CudaScope&) = delete;

  const absl::Status& status() const { return status_; }

 private:
  const CudaDriver& driver_;
  absl::Status status_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_CUDA_DRIVER_H_
