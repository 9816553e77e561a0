// `CopyTurned` copies an image and turns or mirrors it on the way.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_COPY_TURNED_H_
#define HEADRACE_KERNELS_VISION_PIXELS_COPY_TURNED_H_

#include <cstdint>

namespace headrace {

// Where an image is read: its first pixel, and the bytes from there to the next row's and the next column's.
struct ReadingOrder {
  const uint8_t* start;
  int64_t row_step;
  int64_t column_step;
};

// Writes `height` rows of `width` pixels without gaps. The target must not overlap what is read.
void CopyTurned(const ReadingOrder& order, int64_t height, int64_t width, int64_t pixel_bytes, uint8_t* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_COPY_TURNED_H_
