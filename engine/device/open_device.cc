#include "engine/device/open_device.h"

#include "core/error.h"
#include "engine/device/cpu_device.h"

namespace headrace {

absl::StatusOr<std::shared_ptr<Device>> OpenDevice(const DeviceName& name) {
  if (name.kind == DeviceName::Kind::kCpu) return std::make_shared<CpuDevice>(name.text());
  return UnsupportedError("device \"", name.text(), "\": this build has no CUDA; use \"cpu:0\"");
}

}  // namespace headrace
