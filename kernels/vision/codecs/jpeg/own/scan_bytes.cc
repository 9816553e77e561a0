#include "kernels/vision/codecs/jpeg/own/scan_bytes.h"

#include <algorithm>
#include <cstring>

namespace headrace::jpeg {
namespace {

constexpr ptrdiff_t kCopied = 4096;
constexpr uint8_t kMarker = 0xFF;

}  // namespace

// The rest of the last copy, a copy, zeros for a block, and what a window reads ahead.
ScanBytes::ScanBytes() : bytes_(static_cast<size_t>(kMostOfBlock + kCopied + 2 * kMostOfBlock)) {}

void ScanBytes::Begin(const uint8_t* first, const uint8_t* end, BitWindow& window) {
  next_ = first;
  end_ = end;
  ended_ = false;
  limit_ = data_end_ = bytes_.data();
  window = {};
  window.next = bytes_.data();
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
