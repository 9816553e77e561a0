// `JoinThreeChannels` joins runs of bytes, one per channel, to interleaved pixels: the way back of split_channels.h.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_JOIN_CHANNELS_H_
#define HEADRACE_KERNELS_VISION_PIXELS_JOIN_CHANNELS_H_

#include <cstdint>

namespace headrace {

// Of three channels; the runs may be the same.
void JoinThreeChannels(const uint8_t* first, const uint8_t* second, const uint8_t* third, int64_t pixels,
                       uint8_t* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_JOIN_CHANNELS_H_
