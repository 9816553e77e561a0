// `CudaBinary` is the fat binary of kernels for CUDA devices that the program has: those of
// //engine/device:byte_mapping_binary, if it is linked. A program that sends nothing to devices does without their 2
// MB. Threads: registered before main; read from any thread.
#ifndef HEADRACE_ENGINE_DEVICE_CUDA_BINARY_H_
#define HEADRACE_ENGINE_DEVICE_CUDA_BINARY_H_

#include <cstdint>

#include "absl/types/span.h"

namespace headrace {

// Empty: there is none.
absl::Span<const uint8_t> CudaBinary();

struct CudaBinaryRegistration {
  // `binary` lives as long as the program.
  explicit CudaBinaryRegistration(absl::Span<const uint8_t> binary);
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_CUDA_BINARY_H_
