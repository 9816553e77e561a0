#include "io/files/completion.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/error.h"

namespace headrace {
namespace {

TEST(Completion, GivesWhatAnotherThreadGave) {
  Completion<int> completion;
  std::thread giver([&] { completion.Give(7); });
  EXPECT_EQ(*completion.Wait(), 7);
  giver.join();
  // Readers look again at blocks that they have.
  EXPECT_EQ(*completion.Wait(), 7);
}

TEST(Completion, GivesErrors) {
  Completion<int> completion;
  completion.Give(DataError("cut off"));
  EXPECT_EQ(KindOf(completion.Wait().status()), ErrorKind::kData);
}

TEST(Completion, IsNotWaitedForByWorkThatShouldEnd) {
  Completion<int> completion;
  std::atomic<bool> stop{true};
  const StopSignal signal(&stop);
  EXPECT_EQ(KindOf(completion.Wait().status()), ErrorKind::kClosed);
}

TEST(Completion, EndsAWaitWhenTheWorkShouldEnd) {
  Completion<int> completion;
  std::atomic<bool> stop{false};
  absl::StatusOr<int> got = 0;
  std::thread waiter([&] {
    const StopSignal signal(&stop);
    got = completion.Wait();
  });
  stop = true;
  waiter.join();
  EXPECT_EQ(KindOf(got.status()), ErrorKind::kClosed);
}

}  // namespace
}  // namespace headrace
