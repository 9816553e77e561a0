#include "engine/plan/shard_assignment.h"

namespace headrace {

uint64_t ShardAssignment::RowsOf(uint64_t size, uint64_t base, uint64_t run_length) const {
  const uint64_t left = (size > base ? size - base : 0) / run_length;
  if (even == Even::kDrop) return left / world * run_length;
  if (even == Even::kPad) return size == 0 ? 0 : (left + world - 1) / world * run_length;
  return left > rank ? (left - rank + world - 1) / world * run_length : 0;
}

}  // namespace headrace
