// `OpenDevice` opens a device by its name.
// Threads: any thread.
#ifndef HEADRACE_ENGINE_DEVICE_OPEN_DEVICE_H_
#define HEADRACE_ENGINE_DEVICE_OPEN_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/device/device.h"
#include "engine/device/device_name.h"

namespace headrace {

// kUnsupported, with what is missing: there is no such device here.
absl::StatusOr<std::shared_ptr<Device>> OpenDevice(const DeviceName& name);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_OPEN_DEVICE_H_
