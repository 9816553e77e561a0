// `counted_rows` counts the rows that went through the operator `test_counted`, in all graphs of the process.
// Threads: safe from any thread.
#ifndef HEADRACE_OPS_TESTING_COUNTED_ROWS_H_
#define HEADRACE_OPS_TESTING_COUNTED_ROWS_H_

#include <atomic>

namespace headrace {

inline std::atomic<int> counted_rows{0};

}  // namespace headrace

#endif  // HEADRACE_OPS_TESTING_COUNTED_ROWS_H_
