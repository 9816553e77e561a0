#include "core/stop_signal.h"

#include <atomic>
#include <thread>

#include "core/error.h"
#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(StopSignal, IsRaisedForItsThreadWhileItStands) {
  std::atomic<bool> stop = false;
  EXPECT_FALSE(StopSignal::Raised());
  {
    const StopSignal signal(&stop);
    EXPECT_FALSE(StopSignal::Raised());
    stop = true;
    EXPECT_TRUE(StopSignal::Raised());
    bool elsewhere = true;
    std::thread([&] { elsewhere = StopSignal::Raised(); }).join();
    EXPECT_FALSE(elsewhere);
    const std::atomic<bool> never = false;
    const StopSignal inner(&never);
    EXPECT_FALSE(StopSignal::Raised());
  }
  EXPECT_FALSE(StopSignal::Raised());
  EXPECT_EQ(KindOf(StopSignal::Error()), ErrorKind::kClosed);
}

}  // namespace
}  // namespace headrace
