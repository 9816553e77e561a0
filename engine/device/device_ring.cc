#include "engine/device/device_ring.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "core/fork_watch.h"
#include "core/quantity_text.h"

namespace headrace {

DeviceBatch::~DeviceBatch() {
  // The device is the parent's.
  if (LostInFork()) return;
  if (track_ != nullptr) track_->Released(number_);
  for (const DeviceStream stream : streams_) {
    absl::StatusOr<FencePtr> fence = device().RecordFence(stream);
    if (fence.ok()) {
      buffer_.fences.push_back(*std::move(fence));
    } else {
      unknown_streams_ = true;
    }
  }
  // A batch that nobody took may still be on its way.
  if (filled_ != nullptr) buffer_.fences.push_back(std::move(filled_));
  buffer_.unknown_streams |= unknown_streams_;
  ring_->Release(std::move(buffer_));
}

Device& DeviceBatch::device() const { return ring_->device(); }

absl::StatusOr<FencePtr> DeviceBatch::Fill(const DeviceFill& fill) {
  HEADRACE_ASSIGN_OR_RETURN(filled_, device().Fill(fill, buffer_.fences));
  buffer_.fences.clear();
  return filled_;
}

absl::Status DeviceBatch::HandOver(DeviceStream stream) {
  HEADRACE_RETURN_IF_ERROR(Record(stream));
  return device().MakeWait(stream, filled_);
}

absl::Status DeviceBatch::Record(DeviceStream stream) {
  if (Knows(stream)) return absl::OkStatus();
  HEADRACE_RETURN_IF_ERROR(device().CheckStream(stream));
  const std::lock_guard<std::mutex> lock(mutex_);
  streams_.push_back(stream);
  return absl::OkStatus();
}

bool DeviceBatch::Knows(DeviceStream stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::find(streams_.begin(), streams_.end(), stream) != streams_.end();
}

absl::Status DeviceBatch::HandOverToAny() {
  HEADRACE_RETURN_IF_ERROR(device().Wait(filled_));
  const std::lock_guard<std::mutex> lock(mutex_);
  unknown_streams_ = true;
  return absl::OkStatus();
}

absl::Status DeviceBatch::HandOverToAny(DeviceStream stream) {
  HEADRACE_RETURN_IF_ERROR(HandOver(stream));
  const std::lock_guard<std::mutex> lock(mutex_);
  unknown_streams_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<DeviceBatch>> DeviceRing::Take(size_t bytes) {
  if (static_cast<int64_t>(bytes) > budget_) {
    return ResourceError("a batch takes ", BytesText(static_cast<int64_t>(bytes)), " on ", device_->name(),
                         ", and batches may take ", BytesText(budget_),
                         " there: make batches smaller, or give to_device more (memory=)");
  }
  FreeSpare(keep_);
  DeviceBuffer buffer;
  while (!TakeFree(bytes, buffer)) {
    // Waiting costs less than memory that is taken anew.
    HEADRACE_ASSIGN_OR_RETURN(const bool reusable, WaitForUnknown(bytes));
    if (reusable) continue;
    HEADRACE_ASSIGN_OR_RETURN(const bool grown, Grow(bytes, buffer));
    if (grown) break;
    HEADRACE_RETURN_IF_ERROR(WaitForUnknown(0).status());
    if (!FreeSpare(0)) return nullptr;
  }
  return std::make_unique<DeviceBatch>(shared_from_this(), std::move(buffer));
}

bool DeviceRing::TakeFree(size_t bytes, DeviceBuffer& buffer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->capacity < bytes || it->unknown_streams || (best != free_.end() && it->capacity >= best->capacity))
      continue;
    if (Reached(*it)) best = it;
  }
  if (best == free_.end()) return false;
  buffer = std::move(*best);
  free_.erase(best);
  return true;
}

absl::StatusOr<bool> DeviceRing::Grow(size_t bytes, DeviceBuffer& buffer) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    refusal_ = absl::OkStatus();
    if (bytes_ + static_cast<int64_t>(bytes) > budget_) return false;
    bytes_ += static_cast<int64_t>(bytes);
    ++buffers_;
  }
  const absl::StatusOr<DeviceMemory> given = device_->Allocate(bytes);
  if (given.ok() && given->memory != nullptr) {
    buffer = {.memory = given->memory, .capacity = bytes};
    return true;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  bytes_ -= static_cast<int64_t>(bytes);
  --buffers_;
  HEADRACE_RETURN_IF_ERROR(given.status());
  refusal_ = given->refusal;
  // Works with the buffers that there are.
  if (buffers_ > 0) return false;
  return refusal_;
}

absl::StatusOr<bool> DeviceRing::WaitForUnknown(size_t bytes) {
  std::vector<DeviceBuffer> unknown;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = [](const DeviceBuffer& buffer) { return !buffer.unknown_streams; };
    const auto large = [bytes](const DeviceBuffer& buffer) { return buffer.capacity >= bytes; };
    const auto first = std::partition(free_.begin(), free_.end(), known);
    if (std::none_of(first, free_.end(), large)) return false;
    unknown.assign(std::make_move_iterator(first), std::make_move_iterator(free_.end()));
    free_.erase(first, free_.end());
  }
  const absl::StatusOr<bool> waited = device_->WaitForAll();
  const std::lock_guard<std::mutex> lock(mutex_);
  for (DeviceBuffer& buffer : unknown) {
    buffer.unknown_streams = !waited.value_or(false);
    free_.push_back(std::move(buffer));
  }
  return waited;
}

bool DeviceRing::FreeSpare(size_t left) {
  std::vector<DeviceBuffer> spare;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = 0; i < free_.size() && free_.size() > left;) {
      if (free_[i].unknown_streams || !Reached(free_[i])) {
        ++i;
        continue;
      }
      spare.push_back(std::move(free_[i]));
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  for (DeviceBuffer& buffer : spare) Free(std::move(buffer));
  return !spare.empty();
}

bool DeviceRing::Reached(const DeviceBuffer& buffer) const {
  return std::all_of(buffer.fences.begin(), buffer.fences.end(),
                     [this](const FencePtr& fence) { return device_->Reached(fence); });
}

absl::StatusOr<bool> DeviceRing::AwaitUses(const DeviceBuffer& buffer) {
  bool known = !buffer.unknown_streams;
  for (const FencePtr& fence : buffer.fences) known &= device_->Wait(fence).ok();
  if (known) return true;
  return device_->WaitForAll();
}

void DeviceRing::Free(DeviceBuffer buffer) {
  // Memory that a graph under capture uses stays: the graph may run later.
  if (!Reached(buffer)) return;
  const absl::StatusOr<bool> unused = AwaitUses(buffer);
  // What cannot be waited for may still run: the memory stays, too.
  if (!unused.ok()) return;
  if (*unused) {
    device_->Free(buffer.memory);
  } else {
    device_->FreeAfterCapture(buffer.memory);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  bytes_ -= static_cast<int64_t>(buffer.capacity);
  --buffers_;
}

void DeviceRing::Release(DeviceBuffer buffer) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!closed_) {
      free_.push_back(std::move(buffer));
      released_();
      return;
    }
  }
  Free(std::move(buffer));
}

void DeviceRing::Close() {
  std::vector<DeviceBuffer> spare;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    released_ = nullptr;
    spare = std::move(free_);
    free_.clear();
  }
  for (DeviceBuffer& buffer : spare) Free(std::move(buffer));
}

DeviceRing::Levels DeviceRing::levels() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto unknown =
      std::count_if(free_.begin(), free_.end(), [](const DeviceBuffer& buffer) { return buffer.unknown_streams; });
  return {buffers_, static_cast<int>(free_.size()), static_cast<int>(unknown), bytes_, refusal_};
}

}  // namespace headrace
