// `Rounds` chooses how many rounds a test runs, and `OneIn` which of its cases: all in a full run, few in a thinned run
// or under a sanitizer, more in a long one. Use them for each number that only says how thorough a test is. What the
// test asserts of all rounds together must hold in each of these runs.
// Threads: pure functions of the process's environment, which must not change meanwhile.
#ifndef HEADRACE_CORE_TESTING_ROUNDS_H_
#define HEADRACE_CORE_TESTING_ROUNDS_H_

#include <cstdint>
#include <optional>

namespace headrace {

// The numbers of other runs than a full one. One that is not given is that of a full run.
struct OtherRuns {
  std::optional<int64_t> quick = std::nullopt;      // HEADRACE_QUICK=1: ./test and ./test --quick
  std::optional<int64_t> sanitized = std::nullopt;  // built for a sanitizer, whatever the environment
  std::optional<int64_t> long_run = std::nullopt;   // HEADRACE_LONG=1: ./test --all, which finds tests by this name
};

int64_t Rounds(int64_t full, const OtherRuns& other);

// From each case that runs to the next one: 1 in a full run.
int64_t OneIn(const OtherRuns& other);

}  // namespace headrace

#endif  // HEADRACE_CORE_TESTING_ROUNDS_H_
