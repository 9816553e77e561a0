// `Require` asserts in fuzz tests, which have no test framework. It aborts the process, so that the fuzzer keeps the
// input.
// Threads: pure function.
#ifndef HEADRACE_CORE_TESTING_REQUIRE_H_
#define HEADRACE_CORE_TESTING_REQUIRE_H_

#include <cstdio>
#include <cstdlib>

namespace headrace {

inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace headrace

#endif  // HEADRACE_CORE_TESTING_REQUIRE_H_
