#include "core/unwinder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>

namespace {

bool no_memory = false;

}  // namespace

// A sanitizer has a malloc of its own.
#ifndef HEADRACE_SANITIZER

extern "C" void* __libc_malloc(size_t bytes);
extern "C" void* __libc_calloc(size_t count, size_t bytes);
// Replace the C library's, for the whole process.
extern "C" void* malloc(size_t bytes) { return no_memory ? nullptr : __libc_malloc(bytes); }
extern "C" void* calloc(size_t count, size_t bytes) { return no_memory ? nullptr : __libc_calloc(count, bytes); }

#endif

namespace headrace {
namespace {

TEST(Unwinder, NeedsNoMemoryOnceItIsLoaded) {
  LoadUnwinder();
  bool caught = false;
  std::once_flag once;
  no_memory = true;
  try {
    std::call_once(once, [] { throw 1; });
  } catch (int) {
    caught = true;
  }
  no_memory = false;
  EXPECT_TRUE(caught);
}

}  // namespace
}  // namespace headrace
