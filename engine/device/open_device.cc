#include "engine/device/open_device.h"

#include "engine/device/cpu_device.h"
#include "engine/device/cuda_device.h"

namespace headrace {

absl::StatusOr<std::shared_ptr<Device>> OpenDevice(const DeviceName& name) {
  if (name.kind == DeviceName::Kind::kCpu) return std::make_shared<CpuDevice>(name.text());
  return CudaDevice::Open(name.number);
}

}  // namespace headrace
