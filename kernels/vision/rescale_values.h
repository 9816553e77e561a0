// x · scale + shift over a run of values, in float32. Safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_RESCALE_VALUES_H_
#define HEADRACE_KERNELS_VISION_RESCALE_VALUES_H_

#include <cstdint>

#include "core/dtype.h"

namespace headrace {

// `dtype`: any number.
void RescaleValues(const uint8_t* source, DType dtype, int64_t count, float scale, float shift, float* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_RESCALE_VALUES_H_
