#include "io/formats/pending_read.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "core/error.h"
#include "io/files/testing/delayed_file_system.h"
#include "io/files/testing/one_file.h"

namespace headrace {
namespace {

TEST(PendingRead, WaitsForBytesThatComeLater) {
  const OneFile one("0123456789");
  const DelayedFileSystem files(&one);
  const auto read = PendingRead::Start(*files.Open("a"), 3, 5, 4);
  ASSERT_TRUE(read.ok());
  std::thread store([&] { files.CompleteOne(); });
  EXPECT_EQ(*(*read)->Wait(), 4);
  store.join();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>((*read)->buffer()->data()) + 5, 4), "3456");
}

TEST(PendingRead, IsNotCancelledOnceItsBytesAreThere) {
  const OneFile one("0123456789");
  const DelayedFileSystem files(&one);
  {
    const auto read = PendingRead::Start(*files.Open("a"), 0, 0, 10);
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(files.CompleteOne());
    EXPECT_EQ(*(*read)->Wait(), 10);
  }
  EXPECT_EQ(files.cancelled(), 0u);
  EXPECT_EQ(Cancellation::Current(), nullptr);
}

// AddressSanitizer would see a write to memory that is gone.
TEST(PendingRead, MayBeDroppedBeforeItsBytesCome) {
  const OneFile one("0123456789");
  const DelayedFileSystem files(&one);
  ASSERT_TRUE(PendingRead::Start(*files.Open("a"), 0, 0, 10).ok());
  EXPECT_EQ(files.outstanding(), 1u);
  EXPECT_EQ(files.cancelled(), 1u);
  EXPECT_TRUE(files.CompleteOne());
}

}  // namespace
}  // namespace headrace
