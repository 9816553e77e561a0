// `FilterByWeights` is a separable filter with weights of its own along each axis, as a Gaussian has them: sums in
// float32, beyond the border the image mirrored without its outermost pixels, again and again where it is smaller than
// the filter.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_GAUSSIAN_FILTER_H_
#define HEADRACE_KERNELS_VISION_PIXELS_GAUSSIAN_FILTER_H_

#include <cstdint>
#include <vector>

#include "kernels/vision/image/image.h"

namespace headrace {

// Returns `size` symmetric weights with the sum 1; sigma in pixels.
std::vector<float> GaussianWeights(int64_t size, double sigma);

// `down` and `along`: odd numbers of weights, for the axes y and x. uint8, which is rounded, or float32; the target is
// dense and of the image's size.
void FilterByWeights(const Image& image, const std::vector<float>& down, const std::vector<float>& along,
                     uint8_t* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_GAUSSIAN_FILTER_H_
