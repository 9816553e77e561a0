// `ThreeBytesAt` and `StoreFourPixels` copy 3-byte pixels as 4-byte words and store four pixels at a time, because
// stores are the bottleneck.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_PIXELS_OF_THREE_H_
#define HEADRACE_KERNELS_VISION_PIXELS_PIXELS_OF_THREE_H_

#include <cstdint>
#include <cstring>

namespace headrace {

// The pixel there. Reads the byte after it, too.
inline uint64_t ThreeBytesAt(const uint8_t* pixel) {
  uint32_t word = 0;
  std::memcpy(&word, pixel, 4);
  return word & 0xFFFFFF;
}

// Writes four pixels of ThreeBytesAt one after the other.
inline void StoreFourPixels(uint64_t first, uint64_t second, uint64_t third, uint64_t fourth, uint8_t* target) {
  const uint64_t eight = first | second << 24 | third << 48;
  const auto four = static_cast<uint32_t>(third >> 16 | fourth << 8);
  std::memcpy(target, &eight, 8);
  std::memcpy(target + 8, &four, 4);
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_PIXELS_OF_THREE_H_
