// `RaiseValues` raises values of 0 … 1 to a power, many at once. The bits are the same on every CPU.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_POWER_VALUES_H_
#define HEADRACE_KERNELS_VISION_PIXELS_POWER_VALUES_H_

#include <cstdint>

namespace headrace {

// value ** exponent, rounded to float32, then times gain, cut off at 1; the exponent is at least 0.
void RaiseValues(const float* source, int64_t count, double exponent, double gain, float* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_POWER_VALUES_H_
