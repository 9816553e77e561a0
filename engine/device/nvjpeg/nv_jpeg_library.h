// `NvJpegLibrary` is NVIDIA's nvJPEG, loaded when it is first needed.
// Threads: any thread. Calls of the table need a current context (CudaScope).
#ifndef HEADRACE_ENGINE_DEVICE_NVJPEG_NV_JPEG_LIBRARY_H_
#define HEADRACE_ENGINE_DEVICE_NVJPEG_NV_JPEG_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/device/cuda_driver.h"
#include "engine/device/nvjpeg/nv_jpeg_functions.h"

namespace headrace {

struct NvJpegLibrary {
#define HEADRACE_USE(name, parameters) NvJpegStatus(*name) parameters = nullptr;
  HEADRACE_NVJPEG_FUNCTIONS(HEADRACE_USE)
#undef HEADRACE_USE

  // kUnsupported, with what is missing and what to install.
  static absl::StatusOr<const NvJpegLibrary*> Load(const CudaDriver& driver);
};

// Folders of Python packages, in which PyPI's nvJPEG is looked for where the system has none.
void SetPackageFolders(std::vector<std::string> folders);

// Ok, or kResource with the call and the library's own words.
absl::Status CheckNvJpeg(NvJpegStatus status, std::string_view call);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_NVJPEG_NV_JPEG_LIBRARY_H_
