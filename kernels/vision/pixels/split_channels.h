// `SplitChannels` splits interleaved pixels into one run per channel.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_SPLIT_CHANNELS_H_
#define HEADRACE_KERNELS_VISION_PIXELS_SPLIT_CHANNELS_H_

#include <cstdint>

namespace headrace {

// `width` pixels of `channels` values of `item` bytes (1, 2, 4 or 8); channel c goes to target + c · plane_bytes.
void SplitChannels(const uint8_t* row, int64_t width, int64_t channels, int64_t item, int64_t plane_bytes,
                   uint8_t* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_SPLIT_CHANNELS_H_
