// Whether this process was forked from one whose engine had threads. The threads do not exist here, and their locks
// stay locked.
// Thread contract: any thread.
#ifndef HEADRACE_CORE_FORK_WATCH_H_
#define HEADRACE_CORE_FORK_WATCH_H_

namespace headrace {

// Called before the first thread starts.
void WatchForks();
bool LostInFork();

}  // namespace headrace

#endif  // HEADRACE_CORE_FORK_WATCH_H_
