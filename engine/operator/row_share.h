// `RowShare` tells which rows of a stream a rank keeps, by their positions in the epoch: `rank`, `rank` + `world`, …
// counted from `base` on, where a restart of other ranks may have begun.
// Threads: a value.
#ifndef HEADRACE_ENGINE_OPERATOR_ROW_SHARE_H_
#define HEADRACE_ENGINE_OPERATOR_ROW_SHARE_H_

#include <cstdint>

namespace headrace {

struct RowShare {
  uint64_t rank = 0;
  uint64_t world = 1;
  uint64_t base = 0;

  // The first position that it has, `position` or a later one.
  uint64_t NextFrom(uint64_t position) const {
    if (position < base) return base + rank;
    const uint64_t behind = (position - base) % world;
    return position + (rank >= behind ? rank - behind : world - behind + rank);
  }
  bool Has(uint64_t position) const { return NextFrom(position) == position; }
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_ROW_SHARE_H_
