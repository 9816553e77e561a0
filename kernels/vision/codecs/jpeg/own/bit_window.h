// `BitWindow` gives the bits of entropy-coded data, the first in the highest place, up to the next marker; behind it
// come zeros, which are counted.
// Threads: an object belongs to one thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_BIT_WINDOW_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_BIT_WINDOW_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace headrace::jpeg {

class BitWindow {
 public:
  // Of data that begin at `first` and end before `end`, where a marker's first byte may stand at any place.
  BitWindow(const uint8_t* first, const uint8_t* end) : next_(first), end_(end) {}
  BitWindow() = default;

  // At least this many bits are there after Fill: as many as the longest code and number have together.
  static constexpr int kFilled = 32;

  void Fill() {
    if (held_ < kFilled) Load();
  }
  // The next ones; 1 … 32.
  uint32_t Peek(int bits) const { return static_cast<uint32_t>(bits_ >> (64 - bits)); }
  // 0 … 32.
  void Drop(int bits) {
    bits_ <<= bits;
    held_ -= bits;
  }

  // Whether bits were dropped that the data do not have.
  bool overran() const { return held_ < zeros_; }
  // Moves behind the restart marker of this number (0 … 7), which must come next. False: something else does.
  bool PassRestart(int number) {
    if (held_ <= 56) Load();
    const bool all_used = held_ - zeros_ < 8 && !overran();
    const bool there = end_ - next_ >= 2 && next_[0] == 0xFF && next_[1] == 0xD0 + number;
    if (!all_used || !there) return false;
    *this = BitWindow(next_ + 2, end_);
    return true;
  }

 private:
  static constexpr uint64_t kOnes = 0x0101010101010101;

  static bool HasMarkerByte(uint64_t word) { return ((~word - kOnes) & word & (kOnes << 7)) != 0; }

  void Load() {
    uint64_t word = 0;
    if (end_ - next_ >= static_cast<ptrdiff_t>(sizeof(word))) {
      std::memcpy(&word, next_, sizeof(word));
      if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
      if (!HasMarkerByte(word)) [[likely]] {
        bits_ |= word >> held_;
        const int bytes = (63 - held_) / 8;
        next_ += bytes;
        held_ += bytes * 8;
        return;
      }
    }
    LoadBytes();
  }

  // Byte by byte: 0xFF and 0 are one byte of the data, 0xFF and anything else begin a marker.
  void LoadBytes() {
    while (held_ <= 56) {
      uint64_t byte = 0;
      if (end_ - next_ < 1) {
        zeros_ += 8;
      } else if (*next_ != 0xFF) {
        byte = *next_++;
      } else if (end_ - next_ >= 2 && next_[1] == 0) {
        byte = 0xFF;
        next_ += 2;
      } else {
        zeros_ += 8;
      }
      bits_ |= byte << (56 - held_);
      held_ += 8;
    }
  }

  uint64_t bits_ = 0;
  int held_ = 0;   // bits, zeros behind the end among them
  int zeros_ = 0;  // of these, or that were dropped
  const uint8_t* next_ = nullptr;
  const uint8_t* end_ = nullptr;
};

}  // namespace headrace::jpeg

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_BIT_WINDOW_H_
