#include "io/files/far_files.h"

namespace headrace {

StoreCounters Since(const StoreCounters& now, const StoreCounters& before) {
  StoreCounters since;
  for (int64_t StoreCounters::* const count :
       {&StoreCounters::reads, &StoreCounters::lists, &StoreCounters::writes, &StoreCounters::received,
        &StoreCounters::sent, &StoreCounters::retries, &StoreCounters::throttled, &StoreCounters::hedges,
        &StoreCounters::connections, &StoreCounters::waiting_ns, &StoreCounters::transfer_ns, &StoreCounters::paused_ns,
        &StoreCounters::cached, &StoreCounters::cached_bytes}) {
    since.*count = now.*count - before.*count;
  }
  return since;
}

int64_t RequestsOf(const StoreCounters& counters) { return counters.reads + counters.lists + counters.writes; }

}  // namespace headrace
