#include "io/files/file_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

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
#include "io/files/testing/one_file.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kNames = {"a", "b", "c"};

std::vector<SetFile> SetIn(const TemporaryFolder& folder) {
  std::vector<SetFile> set;
  for (const std::string& name : kNames) set.push_back({folder / name, 5});
  return set;
}

void WriteDrafts(const TemporaryFolder& folder) {
  for (const std::string& name : kNames) {
    const auto stream = LocalFileSystem()->Create(folder / name, {.draft = ".draft"});
    ASSERT_TRUE(stream.ok()) << stream.status();
    ASSERT_TRUE((*stream)->Append({"new ", name}).ok());
    ASSERT_TRUE((*stream)->Seal().ok());
    ASSERT_TRUE((*stream)->Keep().ok());
  }
}

void WriteOld(const TemporaryFolder& folder) {
  for (const std::string& name : kNames) folder.Write(name, "old " + name);
}

// What stands under the names: "old", "new", or "-", and "!" for anything else.
std::string StateOf(const TemporaryFolder& folder) {
  std::string state;
  for (const std::string& name : kNames) {
    const absl::StatusOr<Tensor> read = LocalFileSystem()->Read(folder / name);
    const std::string bytes = read.ok() ? std::string(read->bytes_value()) : "";
    state += !read.ok() ? "-" : bytes == "old " + name ? "o" : bytes == "new " + name ? "n" : "!";
  }
  return state;
}

bool IsMixed(const std::string& state) {
  return state.find('!') != std::string::npos ||
         (state.find('o') != std::string::npos && state.find('n') != std::string::npos);
}

bool HasDrafts(const TemporaryFolder& folder) {
  for (const std::string& name : kNames) {
    if (std::filesystem::exists(folder / (name + ".draft"))) return true;
  }
  return false;
}

// Runs CommitSet over the files of this machine with a call before each of theirs.
absl::Status CommitWith(const TemporaryFolder& folder, FaultyFileSystem::Before before) {
  return CommitSet(FaultyFileSystem(LocalFileSystem(), std::move(before)), ".draft", SetIn(folder));
}

int CallsOfACommit() {
  const TemporaryFolder folder;
  WriteOld(folder);
  WriteDrafts(folder);
  int calls = 0;
  const absl::Status committed = CommitWith(folder, [&](std::string_view, const std::string&) {
    ++calls;
    return absl::OkStatus();
  });
  EXPECT_TRUE(committed.ok()) << committed;
  EXPECT_EQ(StateOf(folder), "nnn");
  EXPECT_FALSE(HasDrafts(folder));
  return calls;
}

TEST(CommitSet, NamesFilesInOrderOnceTheOldOnesAreGone) {
  const TemporaryFolder folder;
  WriteOld(folder);
  WriteDrafts(folder);
  std::vector<std::string> states;
  const absl::Status committed = CommitWith(folder, [&](std::string_view, const std::string&) {
    const std::string state = StateOf(folder);
    if (states.empty() || states.back() != state) states.push_back(state);
    return absl::OkStatus();
  });
  ASSERT_TRUE(committed.ok()) << committed;
  states.push_back(StateOf(folder));
  EXPECT_THAT(states, ::testing::ElementsAre("ooo", "oo-", "o--", "n--", "nn-", "nnn"));
}

TEST(CommitSet, NeverMixesSetsWhereACallFails) {
  const int calls = CallsOfACommit();
  ASSERT_GE(calls, 14);
  for (int failing = 0; failing < calls; ++failing) {
    const TemporaryFolder folder;
    WriteOld(folder);
    WriteDrafts(folder);
    int call = 0;
    const absl::Status status = CommitWith(folder, [&](std::string_view, const std::string& path) {
      return call++ == failing ? DataError(path, ": the disk is on fire") : absl::OkStatus();
    });
    EXPECT_THAT(std::string(status.message()), HasSubstr("on fire")) << failing;
    EXPECT_FALSE(IsMixed(StateOf(folder))) << failing << ": " << StateOf(folder);
    const absl::Status again = CommitSet(*LocalFileSystem(), ".draft", SetIn(folder));
    EXPECT_TRUE(again.ok()) << failing << ": " << again;
    EXPECT_EQ(StateOf(folder), "nnn") << failing;
    EXPECT_FALSE(HasDrafts(folder)) << failing;
  }
}

TEST(CommitSet, NeverMixesSetsWhereTheProcessIsKilled) {
  const int calls = CallsOfACommit();
  for (int last = 0; last < calls; ++last) {
    const TemporaryFolder folder;
    WriteOld(folder);
    WriteDrafts(folder);
    const pid_t child = fork();
    if (child == 0) {
      int call = 0;
      CommitWith(folder, [&](std::string_view, const std::string&) {
        if (call++ == last) kill(getpid(), SIGKILL);
        return absl::OkStatus();
      }).IgnoreError();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << last;
    EXPECT_FALSE(IsMixed(StateOf(folder))) << last << ": " << StateOf(folder);
    const absl::Status again = CommitSet(*LocalFileSystem(), ".draft", SetIn(folder));
    EXPECT_TRUE(again.ok()) << last << ": " << again;
    EXPECT_EQ(StateOf(folder), "nnn") << last;
  }
}

TEST(CommitSet, ChangesNothingWhereAFileIsMissing) {
  const TemporaryFolder folder;
  WriteOld(folder);
  WriteDrafts(folder);
  // The old file is too long to be the new one.
  folder.Write("c", "old and longer");
  std::filesystem::remove(folder / "c.draft");
  const absl::Status status = CommitSet(*LocalFileSystem(), ".draft", SetIn(folder));
  EXPECT_EQ(KindOf(status), ErrorKind::kData) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("c: neither its draft nor the file of 5 bytes"));
  EXPECT_EQ(StateOf(folder), "oo!");
  EXPECT_TRUE(std::filesystem::exists(folder / "a.draft"));
}

TEST(CommitSet, RefusesADraftThatIsTooShort) {
  const TemporaryFolder folder;
  WriteDrafts(folder);
  folder.Write("b.draft", "new");
  EXPECT_EQ(KindOf(CommitSet(*LocalFileSystem(), ".draft", SetIn(folder))), ErrorKind::kData);
  EXPECT_EQ(StateOf(folder), "---");
}

TEST(CommitSet, RefusesAFileSystemThatIsNotWritten) {
  EXPECT_EQ(KindOf(CommitSet(OneFile(""), ".draft", std::vector<SetFile>{{"a", 0}})), ErrorKind::kUnsupported);
  EXPECT_TRUE(CommitSet(OneFile(""), ".draft", {}).ok());
}

}  // namespace
}  // namespace headrace
