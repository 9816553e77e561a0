// The epochs that a pipeline runs, in some operator's own numbers. A plain value.
#ifndef HEADRACE_ENGINE_EPOCH_RANGE_H_
#define HEADRACE_ENGINE_EPOCH_RANGE_H_

#include <cstdint>

namespace headrace {

struct EpochRange {
  uint64_t first = 0;
  uint64_t last = 0;  // inclusive; UINT64_MAX: endless; below `first`: none
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EPOCH_RANGE_H_
