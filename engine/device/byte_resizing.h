// `ResizedImage` gives the bytes of a resized image, one at a time. Use it in the passes of ByteMapping.
// Threads: values; calls with different threads write different memory.
#ifndef HEADRACE_ENGINE_DEVICE_BYTE_RESIZING_H_
#define HEADRACE_ENGINE_DEVICE_BYTE_RESIZING_H_

#include <stdint.h>

#include "engine/device/byte_mapping.h"

namespace headrace {

// The inputs of a row or column of a resized image.
struct Taps {
  uint32_t first;
  uint32_t count;
  const int32_t* weights;
};

// An image of bytes that is resized: Pillow's weighted sums along rows and columns, in units of 2^-22, rounded to
// bytes in between.
class ResizedImage {
 public:
  HEADRACE_ON_DEVICE ResizedImage(const ByteMapping& mapping, uint64_t image)
      : mapping_(mapping),
        bytes_(mapping.bytes + image * mapping.bytes_of_image()),
        taps_(mapping.taps + image * mapping.numbers_of_taps()) {}

  HEADRACE_ON_DEVICE uint32_t At(uint32_t y, uint32_t x, uint32_t channel) const {
    const Taps rows = TapsAt(y);
    const Taps columns = TapsAt(mapping_.height + x);
    const uint32_t row = mapping_.byte_width * mapping_.channels;
    const uint8_t* const first = bytes_ + rows.first * row + columns.first * mapping_.channels + channel;
    if (taps_[0] == 0) return SumOfSums(first, rows, row, columns, mapping_.channels);
    return SumOfSums(first, columns, mapping_.channels, rows, row);
  }

 private:
  static constexpr int32_t kBits = 22;

  HEADRACE_ON_DEVICE Taps TapsAt(uint32_t position) const {
    const int32_t* const at = taps_ + 1 + position * (2 + mapping_.weights);
    return {static_cast<uint32_t>(at[0]), static_cast<uint32_t>(at[1]), at + 2};
  }
  HEADRACE_ON_DEVICE static int32_t Rounded(int32_t sum) {
    const int32_t value = sum >> kBits;
    return value < 0 ? 0 : value > 255 ? 255 : value;
  }
  // Over `outer`, of sums over `inner`; `step`: to the next byte along each.
  HEADRACE_ON_DEVICE static uint32_t SumOfSums(const uint8_t* bytes, const Taps& outer, uint32_t outer_step,
                                               const Taps& inner, uint32_t inner_step) {
    int32_t all = 1 << (kBits - 1);
    for (uint32_t i = 0; i < outer.count; ++i, bytes += outer_step) {
      int32_t sum = 1 << (kBits - 1);
      for (uint32_t k = 0; k < inner.count; ++k) sum += bytes[k * inner_step] * inner.weights[k];
      all += Rounded(sum) * outer.weights[i];
    }
    return static_cast<uint32_t>(Rounded(all));
  }

  const ByteMapping& mapping_;
  const uint8_t* bytes_;
  const int32_t* taps_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_BYTE_RESIZING_H_
