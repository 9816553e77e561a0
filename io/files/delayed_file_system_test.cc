#include "io/files/delayed_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DelayedFiles : public ::testing::Test {
 protected:
  DelayedFiles() : files_(LocalFileSystem(), {milliseconds(5), milliseconds(7)}, Note()) { folder_.Write("a", "abc"); }
  DelayedFileSystem::Wait Note() {
    return [this](std::chrono::nanoseconds time) { waits_.push_back(std::chrono::duration_cast<milliseconds>(time)); };
  }

  TemporaryFolder folder_;
  std::vector<milliseconds> waits_;
  DelayedFileSystem files_;
};

TEST_F(DelayedFiles, WaitForTheOpenAndTheReadOfAWholeFile) {
  EXPECT_EQ(files_.Read(folder_ / "a")->bytes_value(), "abc");
  EXPECT_THAT(waits_, ElementsAre(milliseconds(5), milliseconds(7)));
}

TEST_F(DelayedFiles, WaitForEachReadOfAnOpenFile) {
  const auto file = files_.Open(folder_ / "a");
  ASSERT_TRUE(file.ok());
  uint8_t byte = 0;
  for (int64_t at : {0, 2}) EXPECT_EQ(*(*file)->ReadAt(at, absl::MakeSpan(&byte, 1)), 1);
  EXPECT_EQ(byte, 'c');
  EXPECT_THAT(waits_, ElementsAre(milliseconds(5), milliseconds(7), milliseconds(7)));
}

TEST_F(DelayedFiles, AreListedAndWrittenAtOnce) {
  EXPECT_TRUE(files_.Write(folder_ / "b", {"b"}).ok());
  EXPECT_EQ(files_.List(folder_.path(), true)->size(), 2u);
  EXPECT_EQ(files_.Stat(folder_ / "b")->size, 1);
  EXPECT_THAT(waits_, IsEmpty());
}

TEST_F(DelayedFiles, PassErrorsOn) { EXPECT_EQ(KindOf(files_.Read(folder_ / "none").status()), ErrorKind::kNotFound); }

}  // namespace
}  // namespace headrace
