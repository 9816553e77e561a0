#include "io/files/cancellation.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <thread>

namespace headrace {
namespace {

TEST(CancellationTest, EndsWhatWasAddedAndWhatComesLater) {
  Cancellation cancellation;
  int ended = 0;
  cancellation.Add([&] { ++ended; });
  cancellation.Add([&] { ++ended; });
  EXPECT_EQ(ended, 0);
  EXPECT_FALSE(cancellation.cancelled());
  cancellation.Cancel();
  EXPECT_EQ(ended, 2);
  EXPECT_TRUE(cancellation.cancelled());
  cancellation.Cancel();
  EXPECT_EQ(ended, 2);
  cancellation.Add([&] { ++ended; });
  EXPECT_EQ(ended, 3);
}

TEST(CancellationTest, EndsTheOthersWhereOneHasNoMemory) {
  Cancellation cancellation;
  int ended = 0;
  cancellation.Add([&] { ++ended; });
  cancellation.Add([] { throw std::bad_alloc(); });
  cancellation.Add([&] { ++ended; });
  cancellation.Cancel();
  EXPECT_EQ(ended, 2);
  EXPECT_TRUE(cancellation.cancelled());
}

TEST(CancellationTest, BelongsToTheThreadOfItsInnermostScope) {
  EXPECT_EQ(Cancellation::Current(), nullptr);
  const auto outer = std::make_shared<Cancellation>();
  const auto inner = std::make_shared<Cancellation>();
  {
    const Cancellation::Scope of_outer(outer);
    EXPECT_EQ(Cancellation::Current(), outer);
    {
      const Cancellation::Scope of_inner(inner);
      EXPECT_EQ(Cancellation::Current(), inner);
    }
    EXPECT_EQ(Cancellation::Current(), outer);
    std::thread([] { EXPECT_EQ(Cancellation::Current(), nullptr); }).join();
  }
  EXPECT_EQ(Cancellation::Current(), nullptr);
}

}  // namespace
}  // namespace headrace
