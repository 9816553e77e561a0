#include "io/formats/mds/unpacked_shards.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/formats/compressed/unpacked_file.h"

namespace headrace {

std::shared_ptr<UnpackedShards::Slot> UnpackedShards::TakeSlot(size_t number, int64_t bytes) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::find_if(slots_.begin(), slots_.end(), [&](const auto& slot) { return slot->number == number; });
  if (found != slots_.end()) {
    slots_.splice(slots_.begin(), slots_, found);
    return slots_.front();
  }
  auto slot = std::make_shared<Slot>();
  slot->number = number;
  slot->bytes = bytes;
  kept_ += bytes;
  slots_.push_front(slot);
  while (kept_ > most_ && slots_.size() > 1) {
    kept_ -= slots_.back()->bytes;
    slots_.pop_back();
  }
  return slot;
}

absl::StatusOr<std::shared_ptr<const UnpackedShards::Shard>> UnpackedShards::Get(size_t number,
                                                                                 const MdsTable::Shard& listed) const {
  const std::shared_ptr<Slot> slot = TakeSlot(number, listed.raw_bytes);
  const std::lock_guard<std::mutex> lock(slot->mutex);
  if (slot->shard == nullptr) {
    // What failed is tried again by the next one.
    HEADRACE_ASSIGN_OR_RETURN(slot->shard, Unpack(listed));
  }
  return slot->shard;
}

absl::StatusOr<std::shared_ptr<const UnpackedShards::Shard>> UnpackedShards::Unpack(
    const MdsTable::Shard& listed) const {
  HEADRACE_ASSIGN_OR_RETURN(UnpackedFile unpacked,
                            UnpackFile(*files_, listed.path, listed.compression, listed.raw_bytes));
  if (unpacked.bytes != listed.raw_bytes) {
    return DataError("the shard has ", unpacked.bytes, " bytes when it is unpacked, and the index says ",
                     listed.raw_bytes);
  }
  const std::string_view bytes(reinterpret_cast<const char*>(unpacked.buffer->data()),
                               static_cast<size_t>(unpacked.bytes));
  Shard shard;
  HEADRACE_ASSIGN_OR_RETURN(shard.offsets, ParseMdsOffsets(bytes, listed.samples, unpacked.bytes));
  shard.buffer = std::move(unpacked.buffer);
  return std::make_shared<const Shard>(std::move(shard));
}

}  // namespace headrace
