#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>

namespace headrace {
namespace {

// Takes a KiB of stack a call.
uint8_t Descend(int kib) {
  volatile uint8_t taken[1024];
  taken[0] = static_cast<uint8_t>(kib);
  if (kib > 0) taken[1023] = Descend(kib - 1);
  return static_cast<uint8_t>(taken[0] + taken[kib > 0 ? 1023 : 0]);
}

TEST(SmallStack, IsOfOneMebibyte) {
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, rlim_t{1} << 20);
  Descend(256);
  EXPECT_DEATH(Descend(8192), "");
}

}  // namespace
}  // namespace headrace
