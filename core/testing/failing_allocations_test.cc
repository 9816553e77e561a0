#include "core/testing/failing_allocations.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <vector>

namespace headrace {
namespace {

// The compiler may leave out an allocation whose memory nothing sees.
void* volatile seen;

bool NewFails() {
  try {
    seen = ::operator new(10);
  } catch (const std::bad_alloc&) {
    return true;
  }
  ::operator delete(seen);
  return false;
}

TEST(FailingAllocation, FailsOneAlone) {
  FailingAllocation failing(1);
  const bool before = NewFails(), at = NewFails(), after = NewFails();
  EXPECT_TRUE(failing.End());
  EXPECT_FALSE(before);
  EXPECT_TRUE(at);
  EXPECT_FALSE(after);
}

TEST(FailingAllocation, SaysThatThereWereTooFew) {
  FailingAllocation failing(2);
  const bool first = NewFails(), second = NewFails();
  EXPECT_FALSE(failing.End());
  EXPECT_FALSE(first || second);
  EXPECT_FALSE(NewFails()) << "after its end";
}

// Sanitizers have a malloc of their own.
#ifndef HEADRACE_SANITIZER
TEST(FailingAllocation, FailsAllocationsOfC) {
  void* const old = std::malloc(8);
  std::vector<bool> failed(5);
  for (size_t way = 0; way < failed.size(); ++way) {
    const FailingAllocation failing(0);
    void* memory = nullptr;
    if (way == 0) memory = std::malloc(8);
    if (way == 1) memory = std::calloc(2, 8);
    if (way == 2) memory = std::realloc(old, 1000);
    if (way == 3) memory = std::aligned_alloc(64, 64);
    if (way == 4 && posix_memalign(&memory, 64, 64) != 0) memory = nullptr;
    seen = memory;
    failed[way] = seen == nullptr;
  }
  EXPECT_EQ(failed, std::vector<bool>(5, true));
  std::free(old);
}
#endif

}  // namespace
}  // namespace headrace
