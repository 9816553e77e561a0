// `PlannedDevice` is the device to which the batches of a run are sent, with the kind of memory from which they are
// sent there.
// Threads: values.
#ifndef HEADRACE_ENGINE_PLAN_PLANNED_DEVICE_H_
#define HEADRACE_ENGINE_PLAN_PLANNED_DEVICE_H_

#include <cstdint>
#include <string>

namespace headrace {

// The kind of a host buffer.
enum class MemoryKind : uint8_t {
  kPlain,
  kPageLocked,  // a device copies from it by itself
};

struct PlannedDevice {
  std::string name;  // "cuda:0"
  MemoryKind sends_from = MemoryKind::kPlain;
  int depth = 3;       // batches on the device, or on their way, that the user has not taken
  int64_t memory = 0;  // bytes of its memory that batches may take; 0: left open, by what the device has free

  friend bool operator==(const PlannedDevice&, const PlannedDevice&) = default;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_PLANNED_DEVICE_H_
