// `LostInFork` tells whether this process was forked from one whose engine had threads. Those threads do not exist in
// the child, and their locks stay locked.
// Threads: any thread.
#ifndef HEADRACE_CORE_FORK_WATCH_H_
#define HEADRACE_CORE_FORK_WATCH_H_

namespace headrace {

// Called before the first thread starts.
void WatchForks();
bool LostInFork();

}  // namespace headrace

#endif  // HEADRACE_CORE_FORK_WATCH_H_
