// `FaultyDevice` is a device in host memory for tests: it overwrites memory that it gets back, counts what it lent,
// takes its time, and fails the call that a test chooses.
// Threads: as Device's; set it up before it is used, but for its room.
#ifndef HEADRACE_ENGINE_DEVICE_TESTING_FAULTY_DEVICE_H_
#define HEADRACE_ENGINE_DEVICE_TESTING_FAULTY_DEVICE_H_

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "core/error.h"
#include "engine/device/cpu_device.h"
#include "engine/testing/schedule_pause.h"

namespace headrace {

class FaultyDevice : public CpuDevice {
 public:
  FaultyDevice() : CpuDevice("cpu:0") {}

  int fail_copy = -1;               // the copy of this number, from 0; below 0: none
  int throw_copy = -1;              // the same, out of memory on the host
  std::atomic<bool> faulty{false};  // it gives no memory for a fault of its own
  std::atomic<int> room = -1;       // it has memory for so many buffers at once; below 0: for any
  bool maps = false;                // it does the work after a copy
  uint64_t copy_pause = 0;          // steps of PauseSchedule
  std::function<void()> watch;      // called in every copy

  int copies() const { return copies_; }
  int lent() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int>(sizes_.size());
  }

  absl::StatusOr<DeviceMemory> Allocate(size_t bytes) override {
    if (faulty) return ResourceError("the device is broken, says the test");
    if (room >= 0 && lent() >= room) {
      return DeviceMemory{.refusal = ResourceError("the device has no memory, says the test")};
    }
    HEADRACE_ASSIGN_OR_RETURN(DeviceMemory given, CpuDevice::Allocate(bytes));
    std::memset(given.memory, kPoison, bytes);
    const std::lock_guard<std::mutex> lock(mutex_);
    sizes_[given.memory] = bytes;
    return given;
  }
  void Free(uint8_t* memory) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      std::memset(memory, kPoison, sizes_.at(memory));
      sizes_.erase(memory);
    }
    CpuDevice::Free(memory);
  }
  absl::StatusOr<bool> Maps() override { return maps; }
  absl::StatusOr<FencePtr> Fill(const DeviceFill& fill, absl::Span<const FencePtr> after) override {
    PauseSchedule(copy_pause);
    if (watch) watch();
    const int number = copies_++;
    if (number == throw_copy) throw std::bad_alloc();
    if (number == fail_copy) return ResourceError("the copy failed, says the test");
    return CpuDevice::Fill(fill, after);
  }

 private:
  static constexpr int kPoison = 0xDB;

  std::atomic<int> copies_{0};
  std::mutex mutex_;
  std::map<uint8_t*, size_t> sizes_;  // under mutex_
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_TESTING_FAULTY_DEVICE_H_
