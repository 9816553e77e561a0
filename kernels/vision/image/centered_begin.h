// `CenteredBegin` tells where a centre crop begins.
// Threads: a pure function; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_IMAGE_CENTERED_BEGIN_H_
#define HEADRACE_KERNELS_VISION_IMAGE_CENTERED_BEGIN_H_

#include <cmath>
#include <cstdint>

namespace headrace {

// The begin of a window of `size` whose centre is that of the image. If the window is larger, the odd pixel of padding
// is at its end.
inline int64_t CenteredBegin(int64_t image_size, int64_t size, bool rounds_down) {
  if (size > image_size) return -((size - image_size) / 2);
  if (rounds_down) return (image_size - size) / 2;
  return static_cast<int64_t>(std::nearbyint(static_cast<double>(image_size - size) / 2.0));
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_IMAGE_CENTERED_BEGIN_H_
