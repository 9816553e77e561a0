#include "kernels/vision/normalize_values.h"

#include "kernels/cpu_target.h"

namespace headrace {
namespace {

constexpr int64_t kBlock = 24;  // a multiple of 1, 2, 3 and 4 channels, and of vectors of 8

// Elements whose means and deviations repeat every `block`; the last few begin the pattern again.
template <typename T, int64_t kFixedBlock>
constexpr auto kNormalize = [](const T* __restrict source, int64_t count, const float* __restrict mean,
                               const float* __restrict deviation, int64_t block, float* __restrict target)
                                HEADRACE_LOOP {
                                  if constexpr (kFixedBlock > 0) block = kFixedBlock;
                                  int64_t x = 0;
                                  for (; x + block <= count; x += block) {
                                    for (int64_t i = 0; i < block; ++i)
                                      target[x + i] = (static_cast<float>(source[x + i]) - mean[i]) / deviation[i];
                                  }
                                  for (int64_t i = 0; x + i < count; ++i) {
                                    target[x + i] = (static_cast<float>(source[x + i]) - mean[i]) / deviation[i];
                                  }
                                };

std::vector<float> Repeated(const std::vector<float>& values, int64_t channels, int64_t block) {
  std::vector<float> repeated(block);
  for (int64_t i = 0; i < block; ++i) repeated[i] = values[values.size() == 1 ? 0 : i % channels];
  return repeated;
}

template <typename T>
void Normalize(const T* source, int64_t count, const NormalizePattern& pattern, float* target) {
  const int64_t block = static_cast<int64_t>(pattern.mean.size());
  if (block == kBlock) {
    RunOnCpu(kNormalize<T, kBlock>, source, count, pattern.mean.data(), pattern.deviation.data(), block, target);
  } else {
    RunOnCpu(kNormalize<T, 0>, source, count, pattern.mean.data(), pattern.deviation.data(), block, target);
  }
}

}  // namespace

NormalizePattern::NormalizePattern(const std::vector<float>& mean, const std::vector<float>& deviation,
                                   int64_t channels) {
  const int64_t block = kBlock % channels == 0 ? kBlock : channels * 8;
  this->mean = Repeated(mean, channels, block);
  this->deviation = Repeated(deviation, channels, block);
}

void NormalizeValues(const uint8_t* source, DType dtype, int64_t count, const NormalizePattern& pattern,
                     float* target) {
  if (dtype == DType::kUInt8) {
    Normalize(source, count, pattern, target);
  } else {
    Normalize(reinterpret_cast<const float*>(source), count, pattern, target);
  }
}

}  // namespace headrace
