#include "engine/device/cuda_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "engine/device/cuda_binary.h"

namespace headrace {
namespace {

// Enough to fill every device: the threads of a block go on in strides.
constexpr uint64_t kMostBlocks = 2048;

// By MappingWay; with the bits of a value.
constexpr std::string_view kNames[kMappingWays] = {
    "HeadraceMapInPlace",    "HeadraceMapFourPixels", "HeadraceMapMixedFourPixels", "HeadraceMapWords",
    "HeadraceMapMixedWords", "HeadraceMapFours",      "HeadraceMapMixedFours",      "HeadraceMapResizedFours"};

// The device, or its driver, is older than all for which the kernels were made.
bool IsOtherDevice(CUresult result) {
  return result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_INVALID_IMAGE ||
         result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || result == CUDA_ERROR_INVALID_PTX ||
         result == CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaKernels>> CudaKernels::Load(std::shared_ptr<CudaContext> context) {
  const absl::Span<const uint8_t> binary = CudaBinary();
  if (binary.empty()) return std::unique_ptr<CudaKernels>();
  std::unique_ptr<CudaKernels> kernels(new CudaKernels(std::move(context)));
  const CudaDriver& driver = kernels->context_->driver();
  const CUresult loaded = driver.ModuleLoadData(&kernels->module_, binary.data());
  if (IsOtherDevice(loaded)) return std::unique_ptr<CudaKernels>();
  HEADRACE_RETURN_IF_ERROR(driver.Check(loaded, "cuModuleLoadData"));
  HEADRACE_RETURN_IF_ERROR(kernels->Find());
  return kernels;
}

absl::Status CudaKernels::Find() {
  const auto find = [this](CUfunction& function, const std::string& name) {
    const CudaDriver& driver = context_->driver();
    return driver.Check(driver.ModuleGetFunction(&function, module_, name.c_str()), "cuModuleGetFunction");
  };
  for (int way = 0; way < kMappingWays; ++way) {
    HEADRACE_RETURN_IF_ERROR(find(map_16_[way], Cat(kNames[way], 16)));
    HEADRACE_RETURN_IF_ERROR(find(map_32_[way], Cat(kNames[way], 32)));
  }
  return absl::OkStatus();
}

CudaKernels::~CudaKernels() {
  if (module_ == nullptr) return;
  const CudaScope scope(*context_);
  if (scope.status().ok()) context_->driver().ModuleUnload(module_);
}

absl::Status CudaKernels::Map(const DeviceMapping& mapping, CUstream stream) const {
  ByteMapping argument = mapping.mapping;
  size_t size = sizeof(argument);
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &argument, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  const uint64_t threads = argument.pieces() * argument.threads_of_piece();
  const auto blocks =
      static_cast<unsigned int>(std::min(kMostBlocks, (threads + kThreadsOfBlock - 1) / kThreadsOfBlock));
  const auto way = static_cast<size_t>(argument.way());
  const CUfunction kernel = mapping.value_bytes == sizeof(uint16_t) ? map_16_[way] : map_32_[way];
  const CudaDriver& driver = context_->driver();
  return driver.Check(driver.LaunchKernel(kernel, blocks, 1, 1, kThreadsOfBlock, 1, 1, 0, stream, nullptr, extra),
                      "cuLaunchKernel");
}

}  // namespace headrace
