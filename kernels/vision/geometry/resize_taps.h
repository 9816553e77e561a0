// `TapsRegistration` declares, beside a kernel that cuts a part out of an image and resizes it (Resize,
// RandomResizedCrop), a companion that returns the filter taps, for devices that resize themselves: ResizeTaps has
// Resize's attributes and draws. It gives whole numbers, of 32 bits: whether columns are filtered before rows, then for
// each row of the result, and then for each column, the first row or column of the image that is read, how many are,
// and their weights in units of 2^-22.
// Threads: before main, as KernelRegistration, and after the kernel itself, whose declaration has the companion and
// `ResizesByTaps`.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_RESIZE_TAPS_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_RESIZE_TAPS_H_

#include <string>

#include "ir/declaration.h"

namespace headrace {

// What a device does with the taps, where there are any.
ir::OnDevice ResizesByTaps();

struct TapsRegistration {
  explicit TapsRegistration(const std::string& kernel);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_RESIZE_TAPS_H_
