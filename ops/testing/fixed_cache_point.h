// `FixedCachePoint` makes automatic caches keep rows at one point, whatever they cost, instead of measuring.
// Threads: a pure function.
#ifndef HEADRACE_OPS_TESTING_FIXED_CACHE_POINT_H_
#define HEADRACE_OPS_TESTING_FIXED_CACHE_POINT_H_

#include "engine/cache/automatic_cache.h"

namespace headrace {

// Null for -1, which measures. The last point where there are fewer.
inline CachePointChoice FixedCachePoint(int point) {
  if (point < 0) return nullptr;
  return [point](absl::Span<const CachePoint>) { return point; };
}

}  // namespace headrace

#endif  // HEADRACE_OPS_TESTING_FIXED_CACHE_POINT_H_
