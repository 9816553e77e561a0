// `BitWindow` gives the bits of entropy-coded data, the first in the highest place.
// Threads: an object belongs to one thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_BIT_WINDOW_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_BIT_WINDOW_H_

#include <bit>
#include <cstdint>
#include <cstring>

namespace headrace::jpeg {

struct BitWindow {
  uint64_t bits = 0;
  int held = 0;  // of these; others are the next ones, too, or 0
  const uint8_t* next = nullptr;

  // At least 56 bits are held then. Reads the 8 bytes from `next` on.
  void Fill() {
    uint64_t word;
    std::memcpy(&word, next, sizeof(word));
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
    bits |= word >> held;
    next += (63 - held) >> 3;
    held |= 56;
  }
  // The next ones; 1 … 32.
  uint32_t Peek(int count) const { return static_cast<uint32_t>(bits >> (64 - count)); }
  // 0 … 32, of those held.
  void Drop(int count) {
    bits <<= count;
    held -= count;
  }
};

}  // namespace headrace::jpeg

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_BIT_WINDOW_H_
