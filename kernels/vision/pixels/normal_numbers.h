// `FillNormal` draws many normal numbers, the same bits on every CPU: Box and Muller's transform, whose logarithm, sine
// and cosine are made of additions, multiplications, divisions and square roots alone, which IEEE 754 rounds in one
// way. The C library's differ in their last bits between CPUs.
// Threads: pure; safe from any thread with a stream of its own.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_NORMAL_NUMBERS_H_
#define HEADRACE_KERNELS_VISION_PIXELS_NORMAL_NUMBERS_H_

#include "absl/types/span.h"
#include "core/philox.h"

namespace headrace {

// Independent numbers of mean 0 and deviation 1, within ±6.7. Each takes 32 bits of the stream; of an odd count, the
// last takes 64.
void FillNormal(RowRandom& random, absl::Span<float> numbers);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_NORMAL_NUMBERS_H_
