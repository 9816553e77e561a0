#include "core/testing/rounds.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace headrace {
namespace {

constexpr OtherRuns kOther = {.quick = 10, .sanitized = 20, .long_run = 300};

void SetRun(const char* quick, const char* long_run) {
  setenv("HEADRACE_QUICK", quick, 1);
  setenv("HEADRACE_LONG", long_run, 1);
}

#ifdef HEADRACE_SANITIZER

TEST(Rounds, OfASanitizerAreItsOwnWhateverTheEnvironment) {
  for (const char* const quick : {"0", "1"}) {
    for (const char* const long_run : {"0", "1"}) {
      SetRun(quick, long_run);
      EXPECT_EQ(Rounds(100, kOther), 20);
      EXPECT_EQ(OneIn({.sanitized = 7}), 7);
      EXPECT_EQ(Rounds(100, {.quick = 10, .long_run = 300}), 100);
    }
  }
}

#else

TEST(Rounds, AreAllUnlessTheEnvironmentAsksForOthers) {
  SetRun("0", "0");
  EXPECT_EQ(Rounds(100, kOther), 100);
  EXPECT_EQ(OneIn({.quick = 5, .sanitized = 7}), 1);
  SetRun("", "yes");
  EXPECT_EQ(Rounds(100, kOther), 100);
  unsetenv("HEADRACE_QUICK");
  unsetenv("HEADRACE_LONG");
  EXPECT_EQ(Rounds(100, kOther), 100);
}

TEST(Rounds, AreFewInAThinnedRun) {
  SetRun("1", "0");
  EXPECT_EQ(Rounds(100, kOther), 10);
  EXPECT_EQ(OneIn({.quick = 5, .sanitized = 7}), 5);
  EXPECT_EQ(Rounds(100, {.sanitized = 20}), 100) << "what nobody thins stays whole";
}

TEST(Rounds, AreMoreInALongRun) {
  SetRun("0", "1");
  EXPECT_EQ(Rounds(100, kOther), 300);
  EXPECT_EQ(Rounds(100, {.quick = 10}), 100);
  EXPECT_EQ(OneIn({.quick = 5}), 1);
}

#endif

}  // namespace
}  // namespace headrace
