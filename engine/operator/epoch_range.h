// The epochs that a pipeline runs, in some operator's own numbers. A plain value.
#ifndef HEADRACE_ENGINE_OPERATOR_EPOCH_RANGE_H_
#define HEADRACE_ENGINE_OPERATOR_EPOCH_RANGE_H_

#include <cstdint>
#include <limits>

namespace headrace {

struct EpochRange {
  // No epoch of any operator has a higher number, so that the one after it has one, too.
  static constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max() - 1;
  // As `last` of what is asked for: every epoch that can be counted.
  static constexpr uint64_t kEndless = std::numeric_limits<uint64_t>::max();

  uint64_t first = 0;
  uint64_t last = 0;  // inclusive; below `first`: none
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_EPOCH_RANGE_H_
