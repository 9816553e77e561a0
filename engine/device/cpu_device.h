// `CpuDevice` is the host as a device: every part of the device's queue works with it, on any machine. Copies are done
// when they return, and there are no streams.
// Threads: as Device's.
#ifndef HEADRACE_ENGINE_DEVICE_CPU_DEVICE_H_
#define HEADRACE_ENGINE_DEVICE_CPU_DEVICE_H_

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"
#include "engine/device/byte_passes.h"
#include "engine/device/device.h"

namespace headrace {

class CpuDevice : public Device {
 public:
  using Device::Device;
  int dlpack_type() const override { return 1; }
  int dlpack_id() const override { return 0; }

  absl::StatusOr<int64_t> DefaultBudget() override { return kDefaultBudget; }
  absl::StatusOr<DeviceMemory> Allocate(size_t bytes) override {
    void* const memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    if (memory != nullptr) return DeviceMemory{static_cast<uint8_t*>(memory)};
    return DeviceMemory{.refusal = ResourceError("the machine has no memory for a batch of ", bytes, " bytes")};
  }
  void Free(uint8_t* memory) override { std::free(memory); }
  absl::StatusOr<FencePtr> Fill(const DeviceFill& fill, absl::Span<const FencePtr> /*after*/) override {
    for (const DeviceCopy& copy : fill.copies) std::memcpy(copy.to, copy.from, copy.bytes);
    if (fill.copied != nullptr) (*fill.copied)(nullptr);
    for (const DeviceMapping& each : fill.mappings) {
      if (each.value_bytes == sizeof(uint16_t)) {
        MapAllBytes<uint16_t>(each.mapping);
      } else {
        MapAllBytes<uint32_t>(each.mapping);
      }
    }
    return FencePtr();
  }
  absl::Status Wait(const FencePtr& /*fence*/) override { return absl::OkStatus(); }
  absl::Status WaitForCopies() override { return absl::OkStatus(); }
  absl::StatusOr<bool> WaitForAll() override { return true; }
  absl::Status CheckStream(DeviceStream stream) override { return NoStream(stream); }
  absl::Status MakeWait(DeviceStream stream, const FencePtr& /*fence*/) override { return NoStream(stream); }
  absl::StatusOr<FencePtr> RecordFence(DeviceStream stream) override { return NoStream(stream); }

 private:
  static absl::Status NoStream(DeviceStream stream) {
    return UnsupportedError("a device in host memory has no streams; stream ", stream, " was given");
  }

  static constexpr size_t kAlignment = 256;
  static constexpr int64_t kDefaultBudget = int64_t{2} << 30;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_CPU_DEVICE_H_
