// `CacheTrail` carries facts about the rows of a block, for the caches above their source.
// Threads: belongs to the block that carries it.
#ifndef HEADRACE_ENGINE_OPERATOR_CACHE_TRAIL_H_
#define HEADRACE_ENGINE_OPERATOR_CACHE_TRAIL_H_

#include <cstdint>
#include <optional>

namespace headrace {

class RowCache;

struct CacheTrail {
  // The cache in which the rows were found; they bypass the operators below it. Null: they were made.
  const RowCache* found_in = nullptr;
  // Time spent so far on making the rows.
  uint64_t made_ns = 0;
  // If the block holds one row: its key at the source.
  std::optional<uint64_t> source_key;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_CACHE_TRAIL_H_
