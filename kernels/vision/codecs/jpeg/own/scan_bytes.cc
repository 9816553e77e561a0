#include "kernels/vision/codecs/jpeg/own/scan_bytes.h"

#include <algorithm>
#include <cstring>

namespace headrace::jpeg {
namespace {

constexpr ptrdiff_t kCopied = 4096;
constexpr uint8_t kMarker = 0xFF;

}  // namespace

// The rest of the last copy, a copy, zeros for a block, and what a window reads ahead.
ScanBytes::ScanBytes() : bytes_(static_cast<size_t>(kMostOfBlock + kCopied + 2 * kMostOfBlock)) {
  left_out_.reserve(bytes_.size());
}

void ScanBytes::Begin(const uint8_t* first, const uint8_t* end, BitWindow& window) {
  next_ = first;
  end_ = end;
  ended_ = false;
  limit_ = data_end_ = bytes_.data();
  left_out_.clear();
  window = {};
  window.next = bytes_.data();
}

void ScanBytes::BeginAt(const uint8_t* first, int bit, const uint8_t* end, BitWindow& window) {
  Begin(first, end, window);
  if (bit == 0) return;
  Prepare(window);
  window.Fill();
  window.Drop(bit);
}

ScanBytes::Place ScanBytes::PlaceOf(const BitWindow& window) const {
  const ptrdiff_t bit = (window.next - bytes_.data()) * 8 - window.held;
  const ptrdiff_t byte = bit >> 3;  // may be before what is copied, as the window holds some more
  const ptrdiff_t copied = data_end_ - bytes_.data();
  if (byte >= copied) return {next_, 0};
  const auto zeros = left_out_.end() - std::lower_bound(left_out_.begin(), left_out_.end(), byte);
  return {next_ - (copied - byte) - zeros, static_cast<int>(bit & 7)};
}

void ScanBytes::More(BitWindow& window) {
  uint8_t* const begin = bytes_.data();
  if (ended_) {
    // Zeros only, from now on: they may have been dropped to any number.
    if (window.next > data_end_ + kMostOfBlock) window.next = data_end_ + kMostOfBlock;
    return;
  }
  const ptrdiff_t left = data_end_ - window.next;
  std::memmove(begin, window.next, static_cast<size_t>(left));
  const ptrdiff_t moved = window.next - begin;
  constexpr ptrdiff_t kHeld = sizeof(window.bits);
  const auto gone = std::lower_bound(left_out_.begin(), left_out_.end(), moved - kHeld);
  left_out_.erase(left_out_.begin(), gone);
  for (ptrdiff_t& place : left_out_) place -= moved;
  window.next = begin;
  uint8_t* const copied = CopyData(begin + left, begin + left + kCopied);
  data_end_ = limit_ = copied;
  if (ended_) {
    std::memset(copied, 0, static_cast<size_t>(2 * kMostOfBlock));
    limit_ = copied + 2 * kMostOfBlock;
  }
}

uint8_t* ScanBytes::CopyData(uint8_t* to, uint8_t* end) {
  while (to < end && !ended_) {
    const size_t most = static_cast<size_t>(std::min(end - to, end_ - next_));
    const void* const found = most == 0 ? nullptr : std::memchr(next_, kMarker, most);
    const size_t count = found == nullptr ? most : static_cast<size_t>(static_cast<const uint8_t*>(found) - next_);
    std::memcpy(to, next_, count);
    to += count;
    next_ += count;
    if (found == nullptr) {
      ended_ = next_ == end_;
    } else if (end_ - next_ >= 2 && next_[1] == 0) {
      left_out_.push_back(to - bytes_.data());
      *to++ = kMarker;
      next_ += 2;
    } else {
      ended_ = true;
    }
  }
  return to;
}

bool ScanBytes::Overran(const BitWindow& window) const { return ended_ && (window.next - data_end_) * 8 > window.held; }

bool ScanBytes::PassRestart(int number, BitWindow& window) {
  Prepare(window);
  const ptrdiff_t unused = (data_end_ - window.next) * 8 + window.held;
  const bool there = end_ - next_ >= 2 && next_[0] == kMarker && next_[1] == 0xD0 + number;
  if (!ended_ || unused < 0 || unused >= 8 || !there) return false;
  Begin(next_ + 2, end_, window);
  return true;
}

}  // namespace headrace::jpeg
