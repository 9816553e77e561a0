// `RandomBox` chooses the crop of a training pipeline.
// Threads: a pure function; the stream of numbers belongs to one thread.
#ifndef HEADRACE_BENCHMARKS_RANDOM_BOX_H_
#define HEADRACE_BENCHMARKS_RANDOM_BOX_H_

#include "benchmarks/jpeg_loop_decoder.h"
#include "core/philox.h"

namespace headrace {

// As torchvision's RandomResizedCrop.get_params, scale 0.08 to 1 and ratio 3/4 to 4/3.
Box RandomBox(int width, int height, RowRandom& random);

}  // namespace headrace

#endif  // HEADRACE_BENCHMARKS_RANDOM_BOX_H_
