// `NormalizeValues` computes (x - mean) / deviation over a run of values, in float32: rounded after each of the two
// operations, so that the bits are the same on every CPU.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_NORMALIZE_VALUES_H_
#define HEADRACE_KERNELS_VISION_PIXELS_NORMALIZE_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/dtype.h"

namespace headrace {

// Means and deviations of consecutive values, repeated to a length that suits vectors of 16.
struct NormalizePattern {
  // One value, or one per channel, for interleaved channels.
  NormalizePattern(const std::vector<float>& mean, const std::vector<float>& deviation, int64_t channels);

  static constexpr int64_t kUsualLength = 48;  // a multiple of 1, 2, 3 and 4 channels
  absl::InlinedVector<float, kUsualLength> mean;
  absl::InlinedVector<float, kUsualLength> deviation;
};

// `dtype`: uint8 or float32. The first value corresponds to the pattern's first.
void NormalizeValues(const uint8_t* source, DType dtype, int64_t count, const NormalizePattern& pattern, float* target);

// All with the same mean and deviation.
void NormalizeValues(const uint8_t* source, DType dtype, int64_t count, float mean, float deviation, float* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_NORMALIZE_VALUES_H_
