// What the caches above a source learn of rows on their way up to them.
// Thread contract: belongs to the block that carries it.
#ifndef HEADRACE_ENGINE_OPERATOR_CACHE_TRAIL_H_
#define HEADRACE_ENGINE_OPERATOR_CACHE_TRAIL_H_

#include <cstdint>
#include <optional>

namespace headrace {

class RowCache;

struct CacheTrail {
  // The rows were found there, and pass by the operators below that cache. Null: they were made.
  const RowCache* found_in = nullptr;
  // What making the rows took so far.
  uint64_t made_ns = 0;
  // Of one row: the key that it had at the source.
  std::optional<uint64_t> source_key;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_CACHE_TRAIL_H_
