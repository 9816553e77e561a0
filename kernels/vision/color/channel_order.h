// `ChannelOrderStep` puts the three channels of an image into another order.
// Threads: a constant.
#ifndef HEADRACE_KERNELS_VISION_COLOR_CHANNEL_ORDER_H_
#define HEADRACE_KERNELS_VISION_COLOR_CHANNEL_ORDER_H_

#include <array>

#include "core/philox.h"
#include "kernels/vision/image/pixel_step.h"

namespace headrace {

// Channel c of the result is channel `PixelFacts::channel[c]` of the image. An image of one channel stays as it is.
const PixelStep& ChannelOrderStep();

// All six orders are equally likely.
std::array<double, 3> DrawChannelOrder(RowRandom& random);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_COLOR_CHANNEL_ORDER_H_
