// The epochs that a pipeline runs, in some operator's own numbers. A plain value.
#ifndef HEADRACE_ENGINE_EPOCH_RANGE_H_
#define HEADRACE_ENGINE_EPOCH_RANGE_H_

#include <cstdint>
#include <limits>

namespace headrace {

struct EpochRange {
  static constexpr uint64_t kEndless = std::numeric_limits<uint64_t>::max();

  uint64_t first = 0;
  uint64_t last = 0;  // inclusive; kEndless: without end; below `first`: none
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EPOCH_RANGE_H_
