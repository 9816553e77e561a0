// `CenteredBegin` tells where a centre crop begins.
// Threads: a pure function; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_IMAGE_CENTERED_BEGIN_H_
#define HEADRACE_KERNELS_VISION_IMAGE_CENTERED_BEGIN_H_

#include <cmath>
#include <cstdint>

namespace headrace {

// Where an odd pixel is that a window is smaller than the image, or larger.
enum class Centering {
  kEven,   // the half is rounded to an even number; an odd pixel of padding is at the end
  kDown,   // an odd pixel is at the end, be it cut away or padding
  kFloor,  // an odd pixel that is cut away is at the end, and one of padding at the begin
};

// The begin of a window of `size` whose centre is that of the image.
inline int64_t CenteredBegin(int64_t image_size, int64_t size, Centering centering) {
  if (size > image_size) return -((size - image_size + (centering == Centering::kFloor ? 1 : 0)) / 2);
  if (centering != Centering::kEven) return (image_size - size) / 2;
  return static_cast<int64_t>(std::nearbyint(static_cast<double>(image_size - size) / 2.0));
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_IMAGE_CENTERED_BEGIN_H_
