#include "core/caught_error.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>

#include "core/error.h"

namespace headrace {
namespace {

template <typename Thrown>
absl::Status CaughtOf(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (const std::exception&) {
    return CaughtError();
  }
}

TEST(CaughtError, LacksAreResourcesAndTheRestIsInternal) {
  EXPECT_EQ(KindOf(CaughtOf(std::bad_alloc())), ErrorKind::kResource);
  const std::system_error no_thread(std::make_error_code(std::errc::resource_unavailable_try_again), "thread");
  EXPECT_EQ(KindOf(CaughtOf(no_thread)), ErrorKind::kResource);
  EXPECT_NE(DescribeError(CaughtOf(no_thread)).find("thread"), std::string::npos);
  const std::system_error other(std::make_error_code(std::errc::invalid_argument), "mutex");
  EXPECT_EQ(KindOf(CaughtOf(other)), ErrorKind::kInternal);
  const absl::Status internal = CaughtOf(std::logic_error("a map has no such key"));
  EXPECT_EQ(KindOf(internal), ErrorKind::kInternal);
  EXPECT_NE(DescribeError(internal).find("no such key"), std::string::npos);
}

}  // namespace
}  // namespace headrace
