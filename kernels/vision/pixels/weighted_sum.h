// `AddWeighted` sums rows of values, each times a weight, in float32: one multiplication and one addition a value, each
// rounded, so that every CPU gives the same bits.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_WEIGHTED_SUM_H_
#define HEADRACE_KERNELS_VISION_PIXELS_WEIGHTED_SUM_H_

#include <cstdint>

namespace headrace {

// sums[i] += weight · values[i].
void AddWeighted(const uint8_t* values, int64_t count, float weight, float* sums);
void AddWeighted(const float* values, int64_t count, float weight, float* sums);

// Sums of uint8 are within 0 … 255, but for rounding; they are rounded half up.
void StoreRounded(const float* sums, int64_t count, uint8_t* target);
void StoreRounded(const float* sums, int64_t count, float* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_WEIGHTED_SUM_H_
