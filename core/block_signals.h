// `BlockSignals` blocks signals on a thread of the engine, so that Python's main thread receives them.
// Threads: any thread, for itself.
#ifndef HEADRACE_CORE_BLOCK_SIGNALS_H_
#define HEADRACE_CORE_BLOCK_SIGNALS_H_

namespace headrace {

// Blocks all signals on this thread, except those of its own faults.
void BlockSignals();

}  // namespace headrace

#endif  // HEADRACE_CORE_BLOCK_SIGNALS_H_
