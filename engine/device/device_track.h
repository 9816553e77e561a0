// `DeviceTrack` records when each batch of a profiled run was copied to the device, filled, handed over and released.
// Batches that do not fit are left out and counted, so memory is bounded.
// Threads: any thread; a batch may be noted after its queue is gone.
#ifndef HEADRACE_ENGINE_DEVICE_DEVICE_TRACK_H_
#define HEADRACE_ENGINE_DEVICE_DEVICE_TRACK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "core/clock.h"
#include "engine/exec/profiler.h"

namespace headrace {

class DeviceTrack {
 public:
  static constexpr size_t kLeftOut = std::numeric_limits<size_t>::max();

  // `most`: batches.
  explicit DeviceTrack(int64_t most) : most_(static_cast<size_t>(std::max<int64_t>(1, most))) {}
  DeviceTrack(const DeviceTrack&) = delete;

  // The next batch, whose copy begins; its number.
  size_t Begin(uint64_t ns) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (batches_.size() >= most_) {
      ++left_out_;
      return kLeftOut;
    }
    batches_.push_back({.copy_ns = ns});
    return batches_.size() - 1;
  }
  void Copied(size_t batch) { Note(batch, &DeviceBatchTimes::copied_ns); }
  // Where nothing follows the copies, they are done, too.
  void Filled(size_t batch) {
    if (batch == kLeftOut) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    DeviceBatchTimes& times = batches_[batch];
    times.filled_ns = NowNs();
    times.copied_ns = std::min(times.copied_ns, times.filled_ns);
  }
  void Given(size_t batch) { Note(batch, &DeviceBatchTimes::given_ns); }
  void Released(size_t batch) { Note(batch, &DeviceBatchTimes::released_ns); }

  // Adds what happened to the profile, in its time.
  void AddTo(Profile& profile) {
    const std::lock_guard<std::mutex> lock(mutex_);
    profile.dropped_batches = left_out_;
    for (DeviceBatchTimes batch : batches_) {
      for (const auto time : {&DeviceBatchTimes::copy_ns, &DeviceBatchTimes::copied_ns, &DeviceBatchTimes::filled_ns,
                              &DeviceBatchTimes::given_ns, &DeviceBatchTimes::released_ns}) {
        if (batch.*time != DeviceBatchTimes::kNever) batch.*time -= std::min(batch.*time, profile.start_ns);
      }
      profile.batches.push_back(batch);
    }
  }

 private:
  void Note(size_t batch, uint64_t DeviceBatchTimes::* time) {
    if (batch == kLeftOut) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    batches_[batch].*time = NowNs();
  }

  const size_t most_;
  std::mutex mutex_;
  std::vector<DeviceBatchTimes> batches_;  // under mutex_
  uint64_t left_out_ = 0;                  // under mutex_
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_DEVICE_TRACK_H_
