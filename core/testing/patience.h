// `kTestPatience` is how long a test waits, before it fails, for what happens at once on a machine with nothing else to
// do. Use it for waits that have a limit only so that a fault ends the test.
// Threads: a constant.
#ifndef HEADRACE_CORE_TESTING_PATIENCE_H_
#define HEADRACE_CORE_TESTING_PATIENCE_H_

#include <chrono>

namespace headrace {

inline constexpr std::chrono::seconds kTestPatience{60};

}  // namespace headrace

#endif  // HEADRACE_CORE_TESTING_PATIENCE_H_
