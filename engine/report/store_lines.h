// `StoreLines` writes what a run had a far store do: requests, bytes, repeats, the cost at list price, and where the
// time of requests went. Threads: pure functions.
#ifndef HEADRACE_ENGINE_REPORT_STORE_LINES_H_
#define HEADRACE_ENGINE_REPORT_STORE_LINES_H_

#include <string>
#include <vector>

#include "engine/exec/store_use.h"

namespace headrace {

// The counts first, then what else there is to say.
std::vector<std::string> StoreLines(const StoreReport& store);
// Whether it asked to slow down often enough to hold up a run.
bool IsThrottled(const StoreCounters& counters);
// What took most of the time of its requests, or how often it asked to slow down.
std::string RequestTimeText(const StoreReport& store);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_REPORT_STORE_LINES_H_
