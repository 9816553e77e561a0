// Which rows of a source a rank gets: rank r of `world` gets the positions r, r + world, … of the whole epoch.
// Thread contract: a value.
#ifndef HEADRACE_ENGINE_PLAN_SHARD_ASSIGNMENT_H_
#define HEADRACE_ENGINE_PLAN_SHARD_ASSIGNMENT_H_

#include <cstdint>

namespace headrace {

struct ShardAssignment {
  uint64_t rank = 0;
  uint64_t world = 1;
  uint64_t base = 0;  // positions of the first epoch that were used up before
  enum class Even { kOff, kDrop, kPad } even = Even::kOff;

  // Rows of this rank in an epoch of `size` rows from `base` on.
  uint64_t RowsOf(uint64_t size, uint64_t base) const;

  friend bool operator==(const ShardAssignment&, const ShardAssignment&) = default;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_SHARD_ASSIGNMENT_H_
