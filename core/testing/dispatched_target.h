// `DispatchedTarget` is the CPU target whose code runs now where a loop is compiled for each.
// Threads: any thread.
#ifndef HEADRACE_CORE_TESTING_DISPATCHED_TARGET_H_
#define HEADRACE_CORE_TESTING_DISPATCHED_TARGET_H_

#include <cstdint>

namespace headrace {

// HWY_AVX2 and so on: what this function is compiled for itself.
int64_t DispatchedTarget();

}  // namespace headrace

#endif  // HEADRACE_CORE_TESTING_DISPATCHED_TARGET_H_
