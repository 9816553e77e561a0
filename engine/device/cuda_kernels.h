// `CudaKernels` holds the kernels for CUDA devices: the program's fat binary (CudaBinary), loaded into a device's
// context.
// Threads: any thread, with the context current; it is dropped before its context.
#ifndef HEADRACE_ENGINE_DEVICE_CUDA_KERNELS_H_
#define HEADRACE_ENGINE_DEVICE_CUDA_KERNELS_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/device/cuda_driver.h"
#include "engine/device/device.h"

namespace headrace {

class CudaKernels {
 public:
  // Null: there are none in this build, or none for such a device. Errors: faults of the device.
  static absl::StatusOr<std::unique_ptr<CudaKernels>> Load(std::shared_ptr<CudaContext> context);
  ~CudaKernels();
  CudaKernels(const CudaKernels&) = delete;

  // Queues the work on the stream.
  absl::Status Map(const DeviceMapping& mapping, CUstream stream) const;

 private:
  explicit CudaKernels(std::shared_ptr<CudaContext> context) : context_(std::move(context)) {}
  absl::Status Find();

  const std::shared_ptr<CudaContext> context_;
  CUmodule module_ = nullptr;
  CUfunction map_16_[kMappingWays] = {};  // by MappingWay
  CUfunction map_32_[kMappingWays] = {};
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_CUDA_KERNELS_H_
