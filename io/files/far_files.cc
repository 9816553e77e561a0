#include "io/files/far_files.h"

namespace headrace {

namespace {

constexpr int64_t StoreCounters::* kCounts[] = {
    &StoreCounters::reads,       &StoreCounters::lists,       &StoreCounters::writes,      &StoreCounters::received,
    &StoreCounters::sent,        &StoreCounters::retries,     &StoreCounters::throttled,   &StoreCounters::hedges,
    &StoreCounters::connections, &StoreCounters::waiting_ns,  &StoreCounters::transfer_ns, &StoreCounters::paused_ns,
    &StoreCounters::cached,      &StoreCounters::cached_bytes};

}  // namespace

StoreCounters Since(const StoreCounters& now, const StoreCounters& before) {
  StoreCounters since;
  for (int64_t StoreCounters::* const count : kCounts) since.*count = now.*count - before.*count;
  return since;
}

void AddTo(StoreCounters& sum, const StoreCounters& counters) {
  for (int64_t StoreCounters::* const count : kCounts) sum.*count += counters.*count;
}

int64_t RequestsOf(const StoreCounters& counters) { return counters.reads + counters.lists + counters.writes; }

}  // namespace headrace
