// `ReverseRow` writes the pixels of a row in reverse order.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_REVERSE_ROW_H_
#define HEADRACE_KERNELS_VISION_PIXELS_REVERSE_ROW_H_

#include <cstdint>

namespace headrace {

// `width` pixels of `pixel_bytes` bytes each; the two rows must not overlap.
void ReverseRow(const uint8_t* source, int64_t width, int64_t pixel_bytes, uint8_t* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_REVERSE_ROW_H_
