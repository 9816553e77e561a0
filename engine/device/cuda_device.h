// `CudaDevice` is an NVIDIA GPU, reached through the driver API. Batches are copied on a stream of its own, which
// synchronizes with other streams only through fences.
// Threads: as Device's.
#ifndef HEADRACE_ENGINE_DEVICE_CUDA_DEVICE_H_
#define HEADRACE_ENGINE_DEVICE_CUDA_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "engine/device/cuda_driver.h"
#include "engine/device/cuda_kernels.h"
#include "engine/device/device.h"
#include "engine/device/page_locked_memory.h"

namespace headrace {

class CudaDevice : public Device {
 public:
  static constexpr int kDLPackType = 2;

  // kUnsupported, with what is missing.
  static absl::StatusOr<std::shared_ptr<Device>> Open(int number);
  ~CudaDevice() override;

  int dlpack_type() const override { return kDLPackType; }
  int dlpack_id() const override { return number_; }
  BufferPool* page_locked() override { return &host_.pool(); }
  bool CopiesFrom(const void* host) override { return host_.Has(host); }
  absl::StatusOr<int64_t> DefaultBudget() override;
  std::string PageLockedRefusal() override { return host_.RefusalSince(refusals_before_); }
  absl::StatusOr<DeviceMemory> Allocate(size_t bytes) override;
  void Free(uint8_t* memory) override;
  void FreeAfterCapture(uint8_t* memory) override;
  absl::StatusOr<bool> Maps() override;
  absl::StatusOr<FencePtr> Fill(const DeviceFill& fill, absl::Span<const FencePtr> after) override;
  absl::Status Wait(const FencePtr& fence) override;
  absl::Status WaitForCopies() override;
  absl::StatusOr<bool> WaitForAll() override;
  absl::Status CheckStream(DeviceStream stream) override;
  absl::Status MakeWait(DeviceStream stream, const FencePtr& fence) override;
  absl::StatusOr<FencePtr> RecordFence(DeviceStream stream) override;
  bool Reached(const FencePtr& fence) override;

 private:
  CudaDevice(int number, std::shared_ptr<CudaContext> context, CUstream stream);
  absl::Status Check(CUresult result, std::string_view call) const;
  // The rest of its private functions is called with the context current.
  absl::StatusOr<FencePtr> NewFence();
  absl::StatusOr<bool> Captured(CUstream stream) const;
  absl::StatusOr<bool> Synchronize() const;
  void FreeLeft();
  absl::Status QueueFill(const DeviceFill& fill, absl::Span<const FencePtr> after, const Fence& done);

  const int number_;
  const std::shared_ptr<CudaContext> context_;
  const CudaDriver& driver_;
  const CUstream stream_;
  PageLockedMemory& host_;
  const uint64_t refusals_before_;        // of page-locked memory
  std::unique_ptr<CudaKernels> kernels_;  // null: Maps was not called, or there are none for this device
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_CUDA_DEVICE_H_
