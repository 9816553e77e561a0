// `Device` is a device that batches are copied to: its memory, its copies, and the order of its work. Work on a device
// runs in streams; a fence marks a point in one, and whatever must come later waits for it, on the device or on the
// host.
// Threads: any thread. A device outlives the memory and the fences that it gave out.
#ifndef HEADRACE_ENGINE_DEVICE_DEVICE_H_
#define HEADRACE_ENGINE_DEVICE_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "engine/device/byte_mapping.h"

namespace headrace {

// A stream as its users name it: DLPack's number, which for CUDA is the handle, or 1 for the legacy default stream.
using DeviceStream = uintptr_t;

// All work that was queued on a stream up to some moment.
class Fence {
 public:
  virtual ~Fence() = default;
};
// Null: that work is done.
using FencePtr = std::shared_ptr<Fence>;

// Memory of a device, or why it has no more.
struct DeviceMemory {
  uint8_t* memory = nullptr;
  absl::Status refusal = {};  // null: in the device's words
};

struct DeviceCopy {
  void* to;
  const void* from;  // on the host
  size_t bytes;
};

// Work on images that were copied: bytes become values of so many bytes each.
struct DeviceMapping {
  ByteMapping mapping;
  size_t value_bytes;  // 2 or 4
};

// What is done with a batch in one go: copies, then work on what was copied.
struct DeviceFill {
  absl::Span<const DeviceCopy> copies;
  absl::Span<const DeviceMapping> mappings = {};
  // Told of the fence of the copies alone, between them and the mappings; null: nobody asks.
  const std::function<void(FencePtr)>* copied = nullptr;
};

class Device {
 public:
  explicit Device(std::string name) : name_(std::move(name)) {}
  virtual ~Device() = default;
  Device(const Device&) = delete;

  const std::string& name() const { return name_; }
  // As DLPack numbers kinds of devices, and devices of a kind.
  virtual int dlpack_type() const = 0;
  virtual int dlpack_id() const = 0;
  // Whether its memory is the host's.
  bool on_host() const { return dlpack_type() == kOnHost; }

  // Host memory that it copies from by itself; null: from any.
  virtual BufferPool* page_locked() { return nullptr; }
  virtual bool CopiesFrom(const void* /*host*/) { return true; }
  // Why it gave no page-locked memory, since it was opened; empty: it always did.
  virtual std::string PageLockedRefusal() { return {}; }
  // Bytes of its memory that batches take unless the user says how many.
  virtual absl::StatusOr<int64_t> DefaultBudget() = 0;

  // At least `bytes`, aligned to 256. Errors: faults of the device.
  virtual absl::StatusOr<DeviceMemory> Allocate(size_t bytes) = 0;
  // Frees memory for which no work is pending.
  virtual void Free(uint8_t* memory) = 0;
  // Frees memory for which WaitForAll could not wait.
  virtual void FreeAfterCapture(uint8_t* memory) { Free(memory); }

  // Whether it should map bytes after a copy instead of the host before it. kUnsupported: why it cannot.
  virtual absl::StatusOr<bool> Maps() { return false; }
  // Starts the copies and mappings, after the fences. Returns the fence of all of them; the sources must not change
  // before it.
  virtual absl::StatusOr<FencePtr> Fill(const DeviceFill& fill, absl::Span<const FencePtr> after) = 0;
  // Waits on this thread.
  virtual absl::Status Wait(const FencePtr& fence) = 0;
  // Waits on this thread for all copies and mappings that were started.
  virtual absl::Status WaitForCopies() = 0;
  // Waits on this thread for all work of all streams; false: not while one is captured into a graph.
  virtual absl::StatusOr<bool> WaitForAll() = 0;

  // kUnsupported: not a stream of this device, which no work here can wait for.
  virtual absl::Status CheckStream(DeviceStream stream) = 0;
  // For the thread of a user: what it queues on the stream from now on runs after the fence.
  virtual absl::Status MakeWait(DeviceStream stream, const FencePtr& fence) = 0;
  // For the thread of a user: records a fence after what was queued on the stream so far.
  virtual absl::StatusOr<FencePtr> RecordFence(DeviceStream stream) = 0;
  // Whether the fence may be waited for. False while its stream is captured into a graph.
  virtual bool Reached(const FencePtr& /*fence*/) { return true; }

 private:
  static constexpr int kOnHost = 1;
  const std::string name_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_DEVICE_H_
