// `NvJpeg` decodes JPEGs by nvJPEG on the GPU cuda:0, an image at a time, into the host's memory. It always uses the
// same of nvJPEG's methods (Huffman codes on the CPU, the rest on the GPU), so that pixels depend on the file, the
// version of nvJPEG and the GPU alone.
// Threads: any thread. Each thread decodes with a session of its own, with a stream, buffers and page-locked memory,
// which is kept for the next image; no thread waits for another's image.
#ifndef HEADRACE_ENGINE_DEVICE_NVJPEG_NV_JPEG_H_
#define HEADRACE_ENGINE_DEVICE_NVJPEG_NV_JPEG_H_

#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/device/cuda_driver.h"
#include "engine/device/nvjpeg/nv_jpeg_library.h"
#include "kernels/vision/codecs/jpeg/jpeg_device.h"

namespace headrace {

class NvJpegSession;

class NvJpeg : public JpegDevice {
 public:
  // The one of the process, while anybody has it. The driver and nvJPEG are loaded by the first Decode.
  static std::shared_ptr<JpegDevice> Shared();
  NvJpeg() = default;
  ~NvJpeg() override;
  NvJpeg(const NvJpeg&) = delete;

  absl::StatusOr<bool> Decode(const PlainJpeg& jpeg, JpegRows rows, uint8_t* pixels) override;

 private:
  absl::StatusOr<bool> DecodeHere(const PlainJpeg& jpeg, JpegRows rows, uint8_t* pixels);
  absl::Status Open();
  // False: the context is lost, and nothing can be freed.
  bool Free();
  void LeaveBehind();
  absl::StatusOr<std::unique_ptr<NvJpegSession>> TakeSession();

  std::mutex mutex_;
  // Set once; under mutex_ until then.
  std::shared_ptr<CudaContext> context_;
  const NvJpegLibrary* library_ = nullptr;
  NvJpegHandle* handle_ = nullptr;
  std::vector<std::unique_ptr<NvJpegSession>> idle_;  // under mutex_
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_NVJPEG_NV_JPEG_H_
