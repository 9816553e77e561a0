#include "io/files/file_system_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/files/glob.h"
#include "io/files/testing/one_file.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string_view Bytes(const absl::StatusOr<Tensor>& read) { return read.ok() ? read->bytes_value() : "(an error)"; }

TEST(FileSystemRegistry, ReadsPlainPathsAndFileUris) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("100%25 a.txt", "here");
  const FileSystem& files = *DefaultFileSystem();
  for (const std::string& named : {path, "file:" + path, "file://" + path, "file://localhost" + path}) {
    EXPECT_EQ(Bytes(files.Read(named)), "here") << named;
    EXPECT_EQ(files.Stat(named)->size, 4) << named;
    EXPECT_EQ(*(*files.Open(named))->Size(), 4) << named;
  }
  const std::string written = "file://" + (folder / "new.txt");
  ASSERT_TRUE(files.Write(written, {"new"}).ok());
  EXPECT_EQ(Bytes(files.Read(folder / "new.txt")), "new");
  EXPECT_EQ(files.List("file://" + folder.path())->size(), 2u);
}

TEST(FileSystemRegistry, MatchesPatternsInUris) {
  const TemporaryFolder folder;
  folder.Write("a/1.txt");
  folder.Write("a/b/2.txt");
  const std::string root = "file://" + folder.path();
  const auto found = Glob(*DefaultFileSystem(), {root + "/a/**/*.txt"});
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 2);
  EXPECT_EQ((*found)[0], root + "/a/1.txt");
  EXPECT_EQ((*found)[1], root + "/a/b/2.txt");
}

TEST(FileSystemRegistry, NamesWhatIsMissingOfAUri) {
  const TemporaryFolder folder;
  folder.Write("lines.txt");
  const auto found = Glob(*DefaultFileSystem(), {"file://" + folder.path() + "/line.txt"});
  EXPECT_THAT(found.status().message(), HasSubstr("did you mean " + (folder / "lines.txt")));
}

TEST(FileSystemRegistry, RefusesASchemeThatItDoesNotHave) {
  const FileSystem& files = *DefaultFileSystem();
  const auto named = AllOf(HasSubstr("nosuch://bucket/a"), HasSubstr("plain paths and file://"));
  for (const absl::Status& status :
       {files.Read("nosuch://bucket/a").status(), files.Open("nosuch://bucket/a").status(),
        files.Stat("nosuch://bucket/a").status(), files.List("nosuch://bucket/a").status(),
        files.Write("nosuch://bucket/a", {}), Glob(files, {"nosuch://bucket/a/*.txt"}).status(),
        MissingPathError(files, "nosuch://bucket/a")}) {
    EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported) << status;
    EXPECT_THAT(status.message(), named);
  }
}

TEST(FileSystemRegistry, RefusesFilesOfOtherMachines) {
  for (const std::string uri : {"file://other/a", "file://other"}) {
    EXPECT_EQ(KindOf(DefaultFileSystem()->Stat(uri).status()), ErrorKind::kUnsupported) << uri;
  }
}

TEST(FileSystemRegistry, TakesOtherNamesWithColonsForPaths) {
  for (const std::string path : {"a:b", "1s3://x", "./s3://x", "file:x", "://", "", "data:/x"}) {
    EXPECT_EQ(RootOf(path), "") << path;
  }
  EXPECT_EQ(RootOf("/a://b"), "/");
  EXPECT_EQ(RootOf("s3://bucket/key"), "s3://");
  EXPECT_EQ(RootOf("file:///a/b"), "file:///");
  EXPECT_EQ(RootOf("file:/a/b"), "file:/");
}

TEST(FileSystemRegistry, PassesUrisToTheFileSystemOfTheirScheme) {
  const OneFile one("of one");
  FileSystemRegistry registry(LocalFileSystem());
  registry.Add("one", &one);
  EXPECT_EQ(Bytes(registry.Read("one://any/name")), "of one");
  EXPECT_EQ(registry.Locate("one://any/name")->path, "one://any/name");
  EXPECT_THAT(registry.Stat("two://x").status().message(), HasSubstr("plain paths and file://, one://"));
  EXPECT_THAT(registry.Stat("One://x").status().message(), HasSubstr("in small letters: write one://"));
}

}  // namespace
}  // namespace headrace
