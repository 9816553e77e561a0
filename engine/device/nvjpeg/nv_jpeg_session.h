// `NvJpegSession` is the state reused by successive nvJPEG decodes: nvJPEG's objects, a stream, and memory for pixels
// on both sides.
// Threads: one thread at a time, with the context current, also while it is destroyed.
#ifndef HEADRACE_ENGINE_DEVICE_NVJPEG_NV_JPEG_SESSION_H_
#define HEADRACE_ENGINE_DEVICE_NVJPEG_NV_JPEG_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/device/cuda_driver.h"
#include "engine/device/nvjpeg/nv_jpeg_library.h"
#include "kernels/vision/codecs/jpeg/jpeg_device.h"

namespace headrace {

class NvJpegSession {
 public:
  static absl::StatusOr<std::unique_ptr<NvJpegSession>> Make(const CudaDriver& driver, const NvJpegLibrary& library,
                                                             NvJpegHandle* handle);
  // Waits for work that is still queued.
  ~NvJpegSession();
  NvJpegSession(const NvJpegSession&) = delete;

  // As JpegDevice::Decode. Unless it gives true, the session may not be used again.
  absl::StatusOr<bool> Decode(const PlainJpeg& jpeg, JpegRows rows, uint8_t* pixels);

 private:
  NvJpegSession(const CudaDriver& driver, const NvJpegLibrary& library, NvJpegHandle* handle)
      : driver_(driver), library_(library), handle_(handle) {}

  absl::Status MakeStream();
  absl::Status MakeObjects();
  absl::Status MakeRoom(size_t on_device, size_t on_host);
  absl::Status FreePixels();
  absl::StatusOr<bool> ReadOnHost(const PlainJpeg& jpeg);
  absl::StatusOr<bool> QueueOnDevice(const PlainJpeg& jpeg);
  absl::Status CopyToHost(size_t begin, size_t bytes);

  const CudaDriver& driver_;
  const NvJpegLibrary& library_;
  NvJpegHandle* const handle_;
  CUstream stream_ = nullptr;
  CUevent done_ = nullptr;
  NvJpegDecoder* decoder_ = nullptr;
  NvJpegState* state_ = nullptr;
  NvJpegDeviceBuffer* device_buffer_ = nullptr;
  NvJpegPinnedBuffer* pinned_buffer_ = nullptr;
  NvJpegStream* bits_ = nullptr;
  NvJpegParams* params_ = nullptr;
  CUdeviceptr on_device_ = 0;  // an image's pixels
  size_t device_room_ = 0;
  void* on_host_ = nullptr;  // the wanted rows, in page-locked memory
  size_t host_room_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_NVJPEG_NV_JPEG_SESSION_H_
