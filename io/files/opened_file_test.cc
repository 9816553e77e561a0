#include "io/files/opened_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(MakeFile, MakesOnlyWhatIsNotThere) {
  const TemporaryFolder folder;
  folder.Write("there");
  folder.Link("there", "link");
  folder.Link("nowhere", "to_nothing");
  for (const char* name : {"there", "link", "to_nothing"}) {
    EXPECT_FALSE(MakeFile(folder / name, 0600).is_open()) << name;
    EXPECT_EQ(errno, EEXIST) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "nowhere"));
  EXPECT_TRUE(MakeFile(folder / "new", 0600).is_open());
}

TEST(OpenOwnFile, WritesWhereItIsTold) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a", "first\n");
  const OwnFile file = OpenOwnFile(path, Writing::kAtEnd);
  ASSERT_TRUE(file.file.is_open());
  ASSERT_EQ(write(file.file.get(), "second\n", 7), 7);
  EXPECT_EQ(std::filesystem::file_size(path), 13u);
  const OwnFile none = OpenOwnFile(folder / "none", Writing::kAnywhere);
  EXPECT_FALSE(none.file.is_open());
  EXPECT_EQ(none.refused, "");
}

TEST(OpenOwnFile, RefusesAFileOfAnotherUser) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a", "theirs");
  // Not in a sandbox either; python/tests/test_files_of_others.py tests the same.
  if (chown(path.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only root can give files away";
  const OwnFile file = OpenOwnFile(path, Writing::kAnywhere);
  EXPECT_FALSE(file.file.is_open());
  EXPECT_EQ(file.refused, "belongs to user 12345, and this process to user 0");
  const absl::Status status = NotOwnFileError(path, file);
  EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported);
  EXPECT_THAT(std::string(status.message()), HasSubstr("a belongs to user 12345"));
}

TEST(DraftName, CannotBeForeseen) {
  const std::string first = DraftName("a/b.idx");
  EXPECT_THAT(first, StartsWith("a/.b.idx."));
  EXPECT_NE(first, DraftName("a/b.idx"));
  EXPECT_THAT(DraftName("b.idx"), StartsWith(".b.idx."));
}

TEST(DraftName, HasNoMoreBytesThanAFileSystemAllows) {
  EXPECT_LE(DraftName("a/" + std::string(255, 'n')).size(), 2u + 255u);
}

TEST(LockFile, LetsOneHolderIn) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a");
  {
    const OwnFile first = OpenOwnFile(path, Writing::kAnywhere);
    EXPECT_TRUE(LockFile(first.file));
    const OwnFile second = OpenOwnFile(path, Writing::kAnywhere);
    EXPECT_FALSE(LockFile(second.file));
    EXPECT_EQ(errno, EWOULDBLOCK);
  }
  EXPECT_TRUE(LockFile(OpenOwnFile(path, Writing::kAnywhere).file));
}

TEST(SyncFolderOf, NeedsNoFolder) {
  const TemporaryFolder folder;
  for (const std::string& path : {folder.Write("a"), folder / "none/a", std::string("a"), std::string("/a")}) {
    SyncFolderOf(path);
  }
}

}  // namespace
}  // namespace headrace
