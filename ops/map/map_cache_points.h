// `CachePointsOf` gives the cache points of a map: before the first step, and after some of the steps.
// Threads: pure functions.
#ifndef HEADRACE_OPS_MAP_MAP_CACHE_POINTS_H_
#define HEADRACE_OPS_MAP_MAP_CACHE_POINTS_H_

#include <cstddef>
#include <vector>

#include "engine/operator/operator.h"
#include "engine/operator/operator_properties.h"

namespace headrace {

// Columns of the result that a row has after the first `point` steps and that a later step, or the result, uses.
std::vector<int> ColumnsAtPoint(const OpArguments& arguments, size_t point);

// As many points as the graph allows the map; point p is after p steps.
std::vector<CachePoint> CachePointsOf(const OpArguments& arguments);

}  // namespace headrace

#endif  // HEADRACE_OPS_MAP_MAP_CACHE_POINTS_H_
