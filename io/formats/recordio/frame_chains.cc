#include "io/formats/recordio/frame_chains.h"

#include <algorithm>

namespace headrace {
namespace {

// Frames between two that are remembered.
constexpr size_t kStride = 64;

}  // namespace

const FrameChains::Way* FrameChains::Walk::At(int64_t frame, size_t length) {
  if (chains_ == nullptr) return nullptr;
  const auto found = chains_->ways_.find(frame);
  const bool known = found != chains_->ways_.end();
  if (known || ++steps_ % kStride == 0) passed_.emplace_back(frame, length);
  return known ? &found->second : nullptr;
}

void FrameChains::Walk::Note(const Way& way) {
  if (passed_.empty()) return;
  chains_->ForgetBefore(record_);
  for (const auto& [frame, length] : passed_) {
    // A way leads on, never to where it begins.
    if (frame < way.to) chains_->ways_[frame] = {way.to, way.length - length, way.more};
  }
}

// Frames in front of a record lead nowhere any more, as records rise.
void FrameChains::ForgetBefore(int64_t record) {
  if (ways_.size() < most_) return;
  std::erase_if(ways_, [record](const auto& way) { return way.first < record; });
  most_ = std::max(most_, 2 * ways_.size());
}

}  // namespace headrace
