#include "engine/plan/shard_assignment.h"

namespace headrace {

uint64_t ShardAssignment::RowsOf(uint64_t size, uint64_t base) const {
  const uint64_t left = size > base ? size - base : 0;
  if (even == Even::kDrop) return left / world;
  if (even == Even::kPad) return size == 0 ? 0 : (left + world - 1) / world;
  return left > rank ? (left - rank + world - 1) / world : 0;
}

}  // namespace headrace
