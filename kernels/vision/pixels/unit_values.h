// `BlendWithValue` and its neighbours change values of 0 … 1, many at once, in float32: the definitions of
// torchvision's code for tensors of floats. Each operation is rounded, so that every CPU gives the same bits; results
// are within 0 … 1.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_UNIT_VALUES_H_
#define HEADRACE_KERNELS_VISION_PIXELS_UNIT_VALUES_H_

#include <array>
#include <cstdint>

namespace headrace {

// factor · value + (1 - factor) · other, cut off at 0 and 1.
void BlendWithValue(const float* source, int64_t count, float other, double factor, float* target);

// The middle one of three rows of `count` values, with its smoothing: (sum of the 3 × 3 neighbours + 4 · value) / 13,
// where neighbours are `channels` values apart. The first and the last pixel stay as they are.
void BlendWithSmooth(const float* above, const float* row, const float* below, int64_t count, int64_t channels,
                     double factor, float* target);

// 1 - value where that is at least the threshold.
void SolarizeValues(const float* source, int64_t count, float threshold, float* target);

// The greatest of 2 ** bits levels, which begin at 0, that the value reaches.
void PosterizeValues(const float* source, int64_t count, int bits, float* target);

// value + the number of its channel, cut off at 0 and 1.
void ShiftValues(const float* source, int64_t count, int64_t channels, const std::array<float, 3>& by, float* target);

// Between 0 and 1, in this unit: whole, so that sums do not depend on their order.
inline constexpr double kUnitOfSums = 1.0 / (1 << 30);
int64_t SumValues(const float* values, int64_t count);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_UNIT_VALUES_H_
