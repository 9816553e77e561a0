// `ShardAssignment` tells which rows of a source a rank gets: rank r of `world` gets the positions r, r + world, … of
// the whole epoch, or, where rows stay together in runs, the runs of these numbers.
// Threads: a value.
#ifndef HEADRACE_ENGINE_PLAN_SHARD_ASSIGNMENT_H_
#define HEADRACE_ENGINE_PLAN_SHARD_ASSIGNMENT_H_

#include <cstdint>

namespace headrace {

struct ShardAssignment {
  uint64_t rank = 0;
  uint64_t world = 1;
  uint64_t base = 0;  // positions of the first epoch that were used up before
  enum class Even { kOff, kDrop, kPad } even = Even::kOff;

  // Rows of this rank in an epoch of `size` rows from `base` on, sharded in runs of `run_length`, which divides both.
  uint64_t RowsOf(uint64_t size, uint64_t base, uint64_t run_length = 1) const;
  // The position of this rank's row number `local` among those from `base` on. With even="pad" it may be beyond the
  // epoch's size, where positions begin again.
  uint64_t PositionOf(uint64_t local, uint64_t base, uint64_t run_length = 1) const {
    return base + (rank + local / run_length * world) * run_length + local % run_length;
  }

  friend bool operator==(const ShardAssignment&, const ShardAssignment&) = default;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_SHARD_ASSIGNMENT_H_
