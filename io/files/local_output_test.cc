#include "io/files/local_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/output_stream.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const FileSystem& Machine() { return *LocalFileSystem(); }

std::unique_ptr<OutputStream> MustCreate(const std::string& path, const OutputOptions& options = {}) {
  absl::StatusOr<std::unique_ptr<OutputStream>> stream = Machine().Create(path, options);
  EXPECT_TRUE(stream.ok()) << stream.status();
  return *std::move(stream);
}

std::string BytesOf(const std::string& path) {
  const absl::StatusOr<Tensor> read = Machine().Read(path);
  return read.ok() ? std::string(read->bytes_value()) : "(none)";
}

std::vector<std::string> NamesIn(const TemporaryFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

mode_t PermissionsOf(const std::string& path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0 ? found.st_mode & 0777 : 0;
}

ino_t NumberOf(const std::string& path) {
  struct stat found;
  return lstat(path.c_str(), &found) == 0 ? found.st_ino : 0;
}

TEST(LocalOutput, GivesTheFileItsNameAtTheEnd) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a", "old");
  const auto stream = MustCreate(path);
  ASSERT_TRUE(stream->Append({"ne", "", "w"}).ok());
  EXPECT_EQ(stream->size(), 3);
  ASSERT_TRUE(stream->Flush().ok());
  EXPECT_EQ(BytesOf(path), "old");
  ASSERT_TRUE(stream->Commit().ok());
  EXPECT_EQ(BytesOf(path), "new");
  EXPECT_THAT(NamesIn(folder), ElementsAre("a"));
}

TEST(LocalOutput, LeavesNothingWhereItIsDropped) {
  const TemporaryFolder folder;
  folder.Write("a", "old");
  for (const char* draft : {"", ".draft"}) {
    ASSERT_TRUE(MustCreate(folder / "a", {.draft = draft})->Append({"new"}).ok());
    EXPECT_THAT(NamesIn(folder), ElementsAre("a"));
  }
  EXPECT_EQ(BytesOf(folder / "a"), "old");
}

TEST(LocalOutput, WritesLongPartsInOrder) {
  const TemporaryFolder folder;
  const std::string longer(3 << 20, 'l');
  std::string expected;
  const auto stream = MustCreate(folder / "a");
  for (const std::string& part : {std::string("first"), longer, std::string("then"), longer, std::string()}) {
    ASSERT_TRUE(stream->Append({part, "|"}).ok());
    expected += part + "|";
    EXPECT_EQ(stream->size(), static_cast<int64_t>(expected.size()));
  }
  ASSERT_TRUE(stream->Commit().ok());
  EXPECT_EQ(BytesOf(folder / "a"), expected);
}

TEST(LocalOutput, WritesTheHeadAgain) {
  const TemporaryFolder folder;
  const auto stream = MustCreate(folder / "a", {.head = 4});
  ASSERT_TRUE(stream->Append({"????rest"}).ok());
  for (const auto& [offset, bytes] :
       std::vector<std::pair<int64_t, std::string>>{{-1, "x"}, {0, "12345"}, {4, "x"}, {5, ""}}) {
    EXPECT_EQ(KindOf(stream->Rewrite(offset, bytes)), ErrorKind::kInternal) << offset;
  }
  ASSERT_TRUE(stream->Rewrite(0, "he").ok());
  ASSERT_TRUE(stream->Rewrite(2, "ad").ok());
  ASSERT_TRUE(stream->Append({"!"}).ok());
  ASSERT_TRUE(stream->Commit().ok());
  EXPECT_EQ(BytesOf(folder / "a"), "headrest!");
}

TEST(LocalOutput, WritesNothingAfterItsEnd) {
  const TemporaryFolder folder;
  const auto stream = MustCreate(folder / "a", {.head = 1});
  ASSERT_TRUE(stream->Append({"a"}).ok());
  ASSERT_TRUE(stream->Seal().ok());
  ASSERT_TRUE(stream->Seal().ok());
  for (const absl::Status& status : {stream->Append({"b"}), stream->Rewrite(0, "b"), stream->Flush()}) {
    EXPECT_EQ(KindOf(status), ErrorKind::kClosed) << status;
  }
  ASSERT_TRUE(stream->Commit().ok());
  EXPECT_EQ(BytesOf(folder / "a"), "a");
}

TEST(LocalOutput, KeepsThePermissionsOfAFileOfThisUsers) {
  const TemporaryFolder folder;
  const mode_t before = umask(027);
  ASSERT_TRUE(Machine().Write(folder / "new", {"x"}).ok());
  ASSERT_TRUE(Machine().Write(folder / "own", {"x"}, {.own = true}).ok());
  umask(before);
  EXPECT_EQ(PermissionsOf(folder / "new"), 0640u);
  EXPECT_EQ(PermissionsOf(folder / "own"), 0600u);
  ASSERT_EQ(chmod((folder / "new").c_str(), 0604), 0);
  ASSERT_TRUE(Machine().Write(folder / "new", {"y"}).ok());
  EXPECT_EQ(PermissionsOf(folder / "new"), 0604u);
  EXPECT_EQ(BytesOf(folder / "new"), "y");
}

TEST(LocalOutput, ReplacesALinkAndLeavesWhatItLeadsTo) {
  const TemporaryFolder folder;
  const std::string kept = folder.Write("kept", "as it was");
  folder.Link("kept", "link");
  ASSERT_TRUE(Machine().Write(folder / "link", {"new"}).ok());
  EXPECT_EQ(BytesOf(kept), "as it was");
  EXPECT_EQ(BytesOf(folder / "link"), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(folder / "link"));
}

TEST(LocalOutput, RefusesWhatIsNoPlaceForAFile) {
  const TemporaryFolder folder;
  folder.MakeFolder("taken");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const char* draft : {"", ".draft"}) {
    const absl::Status taken = Machine().Create(folder / "taken", {.draft = draft}).status();
    EXPECT_EQ(KindOf(taken), ErrorKind::kNotFound) << taken;
    EXPECT_THAT(std::string(taken.message()), HasSubstr("taken is a folder"));
    const absl::Status pipe = Machine().Create(folder / "pipe", {.draft = draft}).status();
    EXPECT_EQ(KindOf(pipe), ErrorKind::kUnsupported) << pipe;
    EXPECT_THAT(std::string(pipe.message()), AllOf(HasSubstr("pipe is a pipe"), HasSubstr("remove it")));
    const absl::Status none = Machine().Create(folder / "none/a", {.draft = draft}).status();
    EXPECT_EQ(KindOf(none), ErrorKind::kNotFound) << none;
  }
  EXPECT_THAT(NamesIn(folder), ElementsAre("pipe", "taken"));
}

TEST(LocalOutput, GoesOnWithADraftThatWasKept) {
  const TemporaryFolder folder;
  const OutputOptions options = {.draft = ".draft"};
  EXPECT_EQ(KindOf(Machine().Resume(folder / "a", options, 0).status()), ErrorKind::kNotFound);
  const auto first = MustCreate(folder / "a", options);
  ASSERT_TRUE(first->Append({"abcdef"}).ok());
  ASSERT_TRUE(first->Keep().ok());
  EXPECT_THAT(NamesIn(folder), ElementsAre("a.draft"));
  for (const int64_t bytes : {-1, 7}) {
    EXPECT_EQ(KindOf(Machine().Resume(folder / "a", options, bytes).status()), ErrorKind::kData) << bytes;
    EXPECT_EQ(BytesOf(folder / "a.draft"), "abcdef") << "what was refused stays as it is";
  }
  const auto second = Machine().Resume(folder / "a", options, 3);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ((*second)->size(), 3);
  ASSERT_TRUE((*second)->Append({"D"}).ok());
  ASSERT_TRUE((*second)->Commit().ok());
  EXPECT_EQ(BytesOf(folder / "a"), "abcD");
  EXPECT_THAT(NamesIn(folder), ElementsAre("a"));
}

TEST(LocalOutput, KeepsNoDraftThatNobodyCouldFind) {
  const TemporaryFolder folder;
  {
    const auto stream = MustCreate(folder / "a");
    EXPECT_EQ(KindOf(stream->Keep()), ErrorKind::kInternal);
    EXPECT_EQ(KindOf(Machine().Resume(folder / "a", {}, 0).status()), ErrorKind::kNotFound);
  }
  EXPECT_TRUE(NamesIn(folder).empty());
}

// Somebody who can write to the folder may hold the file that was there.
TEST(LocalOutput, MakesADraftAnew) {
  const TemporaryFolder folder;
  const OutputOptions options = {.draft = ".draft"};
  const std::string draft = folder.Write("a.draft", "planted");
  // An open file keeps its number to itself.
  const auto held = Machine().Open(draft);
  const ino_t planted = NumberOf(draft);
  const auto stream = MustCreate(folder / "a", options);
  EXPECT_NE(NumberOf(draft), planted);
  EXPECT_EQ(std::filesystem::file_size(draft), 0u);
  for (const absl::Status& second :
       {Machine().Create(folder / "a", options).status(), Machine().Resume(folder / "a", options, 0).status()}) {
    EXPECT_EQ(KindOf(second), ErrorKind::kUnsupported);
    EXPECT_THAT(std::string(second.message()), HasSubstr("a.draft is being written by another process"));
  }
  ASSERT_TRUE(stream->Append({"ours"}).ok());
  ASSERT_TRUE(stream->Commit().ok());
  EXPECT_EQ(BytesOf(folder / "a"), "ours");
}

TEST(LocalOutput, RefusesADraftThatIsNotItsOwn) {
  const TemporaryFolder folder;
  const std::string kept = folder.Write("kept", "as it was");
  folder.Link("kept", "a.link");
  folder.Link("nowhere", "a.to_nothing");
  std::filesystem::create_hard_link(kept, folder / "a.second");
  ASSERT_EQ(mkfifo((folder / "a.pipe").c_str(), 0600), 0);
  for (const auto& [draft, why] :
       std::vector<std::pair<std::string, std::string>>{{".link", "is a symbolic link"},
                                                        {".to_nothing", "is a symbolic link"},
                                                        {".second", "has 2 names"},
                                                        {".pipe", "is a pipe, a socket or a device"}}) {
    const OutputOptions options = {.draft = draft};
    for (const absl::Status& status :
         {Machine().Create(folder / "a", options).status(), Machine().Resume(folder / "a", options, 0).status()}) {
      EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported) << status;
      EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("a" + draft), HasSubstr(why), HasSubstr("remove it")));
    }
  }
  EXPECT_EQ(BytesOf(kept), "as it was");
  EXPECT_FALSE(std::filesystem::exists(folder / "nowhere"));
}

TEST(LocalOutput, OutlivesTheProcessUpToTheLastFlush) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    const auto stream = Machine().Create(folder / "a", {.draft = ".draft"});
    (*stream)->Append({"before"}).IgnoreError();
    (*stream)->Flush().IgnoreError();
    (*stream)->Append({"after"}).IgnoreError();
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_THAT(NamesIn(folder), ElementsAre("a.draft"));
  EXPECT_EQ(BytesOf(folder / "a.draft"), "before");
}

// A limit of the size of files stands for a full disk.
TEST(LocalOutput, FailsOnAFullDiskAndStaysFailed) {
  const TemporaryFolder folder;
  folder.Write("a", "old");
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{3 << 20, 3 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto stream = Machine().Create(folder / "a", {});
    const std::string part(1 << 20, 'x');
    bool failed = false;
    for (int i = 0; i < 10 && !failed; ++i) failed = !(*stream)->Append({part}).ok();
    const bool stays_failed = !(*stream)->Append({"more"}).ok() && !(*stream)->Flush().ok() &&
                              !(*stream)->Seal().ok() && !(*stream)->Commit().ok();
    stream->reset();
    _exit(failed && stays_failed ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(BytesOf(folder / "a"), "old");
  EXPECT_THAT(NamesIn(folder), ElementsAre("a"));
}

TEST(LocalOutput, LeavesTheOldFileWhereACallFails) {
  const TemporaryFolder folder;
  folder.Write("a", "old");
  // Create, Append and Commit.
  for (int failing = 0; failing < 3; ++failing) {
    int call = 0;
    const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view, const std::string& path) {
      return call++ == failing ? DataError(path, ": the disk is on fire") : absl::OkStatus();
    });
    const absl::Status status = files.Write(folder / "a", {"new"});
    EXPECT_THAT(std::string(status.message()), HasSubstr("on fire")) << failing;
    EXPECT_EQ(BytesOf(folder / "a"), "old");
    EXPECT_THAT(NamesIn(folder), ElementsAre("a"));
  }
}

TEST(Remove, RemovesAFileOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a");
  EXPECT_TRUE(Machine().Remove(path).ok());
  EXPECT_TRUE(Machine().Remove(path).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  folder.MakeFolder("b");
  EXPECT_EQ(KindOf(Machine().Remove(folder / "b")), ErrorKind::kNotFound);
  EXPECT_EQ(KindOf(Machine().Remove(folder.path() + std::string("/\0", 2))), ErrorKind::kGraph);
}

}  // namespace
}  // namespace headrace
