// (x - mean) / deviation over a run of values, in float32. Safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_NORMALIZE_VALUES_H_
#define HEADRACE_KERNELS_VISION_NORMALIZE_VALUES_H_

#include <cstdint>
#include <vector>

#include "core/dtype.h"

namespace headrace {

// Means and deviations of neighbouring values, repeated so often that vectors of 8 fit.
struct NormalizePattern {
  // One value, or one a channel, for values whose channels lie side by side.
  NormalizePattern(const std::vector<float>& mean, const std::vector<float>& deviation, int64_t channels);

  std::vector<float> mean;
  std::vector<float> deviation;
};

// `dtype`: uint8 or float32. The first value is the pattern's first.
void NormalizeValues(const uint8_t* source, DType dtype, int64_t count, const NormalizePattern& pattern, float* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_NORMALIZE_VALUES_H_
