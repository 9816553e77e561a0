// `ParseDeviceName` reads the name of a device: "cpu:0", "cuda:1"; without a number it is 0.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_DEVICE_DEVICE_NAME_H_
#define HEADRACE_ENGINE_DEVICE_DEVICE_NAME_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/plan/planned_device.h"

namespace headrace {

struct DeviceName {
  enum class Kind { kCpu, kCuda } kind = Kind::kCpu;
  int number = 0;

  std::string text() const;
  MemoryKind sends_from() const { return kind == Kind::kCuda ? MemoryKind::kPageLocked : MemoryKind::kPlain; }
};

// kGraph: it names no device that there could be.
absl::StatusOr<DeviceName> ParseDeviceName(std::string_view name);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_DEVICE_NAME_H_
