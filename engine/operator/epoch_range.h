// `EpochRange` is the range of epochs that a pipeline runs, in the numbers of one operator.
// Threads: a plain value.
#ifndef HEADRACE_ENGINE_OPERATOR_EPOCH_RANGE_H_
#define HEADRACE_ENGINE_OPERATOR_EPOCH_RANGE_H_

#include <cstdint>
#include <limits>

namespace headrace {

struct EpochRange {
  // The highest number of an epoch of any operator, chosen so that the next number exists too.
  static constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max() - 1;
  // As the `last` of a request: every epoch that can be counted.
  static constexpr uint64_t kEndless = std::numeric_limits<uint64_t>::max();

  uint64_t first = 0;
  uint64_t last = 0;  // inclusive; below `first`: none

  friend bool operator==(const EpochRange&, const EpochRange&) = default;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_EPOCH_RANGE_H_
