// `DeviceRing` holds the buffers on a device that the batches of one queue lie in, used again and again. A batch that
// nobody holds any more gives its buffer back together with fences of the streams that used it; the next copy into the
// buffer waits for them, on the device. A user who keeps batches makes the ring grow, up to its budget.
// Threads: Take: the thread that sends. Close: any thread, after the last Take. levels: any thread. A DeviceBatch may
// be dropped by any thread, also after the queue is gone.
#ifndef HEADRACE_ENGINE_DEVICE_DEVICE_RING_H_
#define HEADRACE_ENGINE_DEVICE_DEVICE_RING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/device/device.h"
#include "engine/device/device_track.h"

namespace headrace {

class DeviceRing;

struct DeviceBuffer {
  uint8_t* memory = nullptr;
  size_t capacity = 0;
  // What may still use it: the next use waits for all of them.
  std::vector<FencePtr> fences = {};
  bool unknown_streams = false;  // used on streams that were not named
};

// The memory of one batch on the device, with the streams that use it.
// Threads: any thread.
class DeviceBatch {
 public:
  DeviceBatch(std::shared_ptr<DeviceRing> ring, DeviceBuffer buffer)
      : ring_(std::move(ring)), buffer_(std::move(buffer)) {}
  ~DeviceBatch();
  DeviceBatch(const DeviceBatch&) = delete;

  Device& device() const;
  uint8_t* memory() const { return buffer_.memory; }
  // Fills its memory, after everything that used the memory before. Returns the fence of that.
  absl::StatusOr<FencePtr> Fill(const DeviceFill& fill);

  // What is queued on the stream from now on finds the batch there, and is waited for before its memory is reused.
  // kUnsupported: a stream of another device.
  absl::Status HandOver(DeviceStream stream);
  // The stream uses the batch, which was handed over before.
  absl::Status Record(DeviceStream stream);
  // Waits on this thread until the batch is there. It may then be used on streams that nobody names.
  absl::Status HandOverToAny();
  // As HandOver, for a consumer whose further streams nobody names.
  absl::Status HandOverToAny(DeviceStream stream);
  // Records an event in `track`, under `number`, when the last reference is dropped. Call before sharing the batch.
  void ReleasedOn(std::shared_ptr<DeviceTrack> track, size_t number) {
    track_ = std::move(track);
    number_ = number;
  }

 private:
  bool Knows(DeviceStream stream);

  const std::shared_ptr<DeviceRing> ring_;
  DeviceBuffer buffer_;
  FencePtr filled_;
  std::mutex mutex_;
  std::vector<DeviceStream> streams_;  // under mutex_
  bool unknown_streams_ = false;       // under mutex_
  std::shared_ptr<DeviceTrack> track_;
  size_t number_ = DeviceTrack::kLeftOut;
};

class DeviceRing : public std::enable_shared_from_this<DeviceRing> {
 public:
  struct Levels {
    int buffers = 0;
    int free = 0;
    int unknown = 0;  // free buffers with uses that could not be awaited yet
    int64_t bytes = 0;
    absl::Status refusal = {};  // the device's, of the memory that was asked for last
  };

  // `keep`: free buffers that are kept for reuse. `released` is called, on any thread, whenever a buffer comes back.
  DeviceRing(std::shared_ptr<Device> device, int keep, int64_t budget, std::function<void()> released)
      : device_(std::move(device)), keep_(static_cast<size_t>(keep)), budget_(budget), released_(std::move(released)) {}
  DeviceRing(const DeviceRing&) = delete;

  // Memory for a batch; null: all that the budget allows is in use. kResource: the batch is larger than the budget, or
  // the device has no memory although no batch is in use.
  absl::StatusOr<std::unique_ptr<DeviceBatch>> Take(size_t bytes);
  // Frees what is free. Buffers that come back later are freed at once; `released` is called no more.
  void Close();

  Device& device() const { return *device_; }
  int64_t budget() const { return budget_; }
  Levels levels();

 private:
  friend class DeviceBatch;

  void Release(DeviceBuffer buffer);
  // A free buffer of at least so many bytes, the smallest.
  bool TakeFree(size_t bytes, DeviceBuffer& buffer);
  absl::StatusOr<bool> Grow(size_t bytes, DeviceBuffer& buffer);
  // Makes buffers that were used on unknown streams free for reuse; false: none of so many bytes, or not now.
  absl::StatusOr<bool> WaitForUnknown(size_t bytes);
  bool Reached(const DeviceBuffer& buffer) const;
  // Waits until nothing uses it; false: not while a graph is captured.
  absl::StatusOr<bool> AwaitUses(const DeviceBuffer& buffer);
  // Frees free buffers, down to so many; false: there was nothing to free.
  bool FreeSpare(size_t left);
  void Free(DeviceBuffer buffer);

  const std::shared_ptr<Device> device_;
  const size_t keep_;
  const int64_t budget_;
  std::mutex mutex_;
  std::function<void()> released_;  // under mutex_
  std::vector<DeviceBuffer> free_;  // under mutex_
  int64_t bytes_ = 0;               // of all buffers; under mutex_
  int buffers_ = 0;                 // under mutex_
  absl::Status refusal_;            // as in Levels; under mutex_
  bool closed_ = false;             // under mutex_
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_DEVICE_RING_H_
