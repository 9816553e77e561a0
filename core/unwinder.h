// `LoadUnwinder` loads the stack unwinder of the C library ahead of time. Otherwise the library loads it when the first
// exception passes through one of its functions, such as that of std::call_once, and ends the process if memory has run
// out.
// Threads: any thread.
#ifndef HEADRACE_CORE_UNWINDER_H_
#define HEADRACE_CORE_UNWINDER_H_

namespace headrace {

// Loads the unwinder now, so that a later shortage of memory raises an exception instead of ending the process. Later
// calls do nothing.
void LoadUnwinder();

}  // namespace headrace

#endif  // HEADRACE_CORE_UNWINDER_H_
