// `AddNoise` adds noise to many values at once. In units of the values, the noise is mean + sigma · normal, for a
// normal number each. The bits are the same on every CPU.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_NOISE_VALUES_H_
#define HEADRACE_KERNELS_VISION_PIXELS_NOISE_VALUES_H_

#include <cstdint>

namespace headrace {

struct Noise {
  float mean;
  float sigma;
  bool clip;  // floats: to 0 … 1
};

// Whole numbers by whole steps, as torchvision: the noise's fraction is cut off before it is added.
void AddNoise(const Noise& noise, const float* normal, int64_t count, uint8_t* values);
void AddNoise(const Noise& noise, const float* normal, int64_t count, uint16_t* values);
void AddNoise(const Noise& noise, const float* normal, int64_t count, float* values);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_NOISE_VALUES_H_
