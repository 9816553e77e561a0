#include "io/files/file_system_registration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "core/error.h"
#include "core/testing/rounds.h"
#include "io/files/file_system.h"
#include "io/files/testing/one_file.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

// A file whose bytes are the endpoint that it was made with.
MakeFileSystem EndpointFile(std::atomic<int>* made = nullptr) {
  return [made](const StorageSettings& settings) -> absl::StatusOr<std::unique_ptr<FileSystem>> {
    if (made != nullptr) ++*made;
    return std::make_unique<OneFile>(settings.endpoint);
  };
}

std::shared_ptr<const StorageTable> TableOf(const std::string& of, const std::string& endpoint) {
  StorageTable table;
  StorageSettings settings;
  settings.endpoint = endpoint;
  table.Set(of, settings);
  return std::make_shared<const StorageTable>(table);
}

std::string BytesOf(const FileSystem& files, const std::string& path) {
  const auto read = files.Read(path);
  return read.ok() ? std::string(read->bytes_value()) : std::string(read.status().message());
}

const FileSystemRegistration before_main("beforemain", EndpointFile());

TEST(FileSystemRegistration, RegistersBeforeMain) {
  EXPECT_EQ(BytesOf(*FileSystemWith(TableOf("beforemain", "here")), "beforemain://x"), "here");
}

TEST(FileSystemRegistration, MakesAStoreOnceForEqualSettings) {
  std::atomic<int> made = 0;
  RegisterFileSystem("once", EndpointFile(&made));
  const FileSystem* const files = FileSystemWith(TableOf("once", "a"));
  EXPECT_EQ(made, 0) << "nothing was used";
  EXPECT_EQ(BytesOf(*files, "once://x"), "a");
  EXPECT_EQ(BytesOf(*files, "once://y"), "a");
  EXPECT_EQ(FileSystemWith(TableOf("once", "a")), files);
  EXPECT_EQ(BytesOf(*FileSystemWith(TableOf("once://x", "a")), "once://x/z"), "a");
  EXPECT_EQ(made, 1);
  EXPECT_EQ(BytesOf(*FileSystemWith(TableOf("once", "b")), "once://x"), "b");
  EXPECT_EQ(made, 2);
}

TEST(FileSystemRegistration, UsesTheSettingsOfTheThread) {
  RegisterFileSystem("scoped", EndpointFile());
  EXPECT_EQ(BytesOf(*DefaultFileSystem(), "scoped://x"), "");
  const StorageScope scope(*TableOf("scoped", "inside"));
  EXPECT_EQ(BytesOf(*DefaultFileSystem(), "scoped://x"), "inside");
}

TEST(FileSystemRegistration, LeavesARunTheMakerThatItBeganWith) {
  RegisterFileSystem("replaced", [](const StorageSettings&) -> absl::StatusOr<std::unique_ptr<FileSystem>> {
    return std::make_unique<OneFile>("old");
  });
  const FileSystem* const begun = DefaultFileSystem();
  RegisterFileSystem("replaced", [](const StorageSettings&) -> absl::StatusOr<std::unique_ptr<FileSystem>> {
    return std::make_unique<OneFile>("new");
  });
  EXPECT_EQ(BytesOf(*begun, "replaced://x"), "old");
  EXPECT_EQ(BytesOf(*DefaultFileSystem(), "replaced://x"), "new");
}

TEST(FileSystemRegistration, TriesAgainWhatCouldNotBeMade) {
  std::atomic<int> tries = 0;
  RegisterFileSystem("fails", [&](const StorageSettings&) -> absl::StatusOr<std::unique_ptr<FileSystem>> {
    if (++tries < 3) return UnsupportedError("the library is not there");
    return std::make_unique<OneFile>("now");
  });
  const FileSystem* const files = DefaultFileSystem();
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = files->Stat("fails://x").status();
    EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported);
    EXPECT_THAT(status.message(), HasSubstr("the library is not there"));
    EXPECT_EQ(GetErrorField(status, ErrorField::kFile), "fails://x");
  }
  EXPECT_EQ(BytesOf(*files, "fails://x"), "now");
}

TEST(FileSystemRegistration, NamesTheSchemesThatThereAre) {
  RegisterFileSystem("named", EndpointFile());
  const absl::Status status = DefaultFileSystem()->Stat("nosuch://x").status();
  EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("named://"));
  EXPECT_THAT(status.message(), HasSubstr("register_filesystem(\"nosuch\""));
}

TEST(FileSystemRegistration, PutsTheObjectCacheAroundAStore) {
  RegisterFileSystem("cached", EndpointFile());
  StorageSettings settings;
  settings.endpoint = "far";
  settings.object_cache = "/cache";
  StorageTable storage;
  storage.Set("cached", settings);
  const auto table = std::make_shared<const StorageTable>(storage);
  RegisterObjectCache([](std::unique_ptr<FileSystem> files,
                         const StorageSettings& given) -> absl::StatusOr<std::unique_ptr<FileSystem>> {
    return std::make_unique<OneFile>(Cat(BytesOf(*files, "cached://x"), " in ", given.object_cache));
  });
  EXPECT_EQ(BytesOf(*FileSystemWith(table), "cached://x"), "far in /cache");
  EXPECT_EQ(BytesOf(*FileSystemWith(TableOf("cached", "far")), "cached://x"), "far");
}

TEST(FileSystemRegistration, MakesStoresAnewInAForkedChild) {
  std::atomic<int> made = 0;
  RegisterFileSystem("forked", EndpointFile(&made));
  const FileSystem* const files = FileSystemWith(TableOf("forked", "a"));
  EXPECT_EQ(BytesOf(*files, "forked://x"), "a");
  const pid_t child = fork();
  if (child == 0) _exit(BytesOf(*files, "forked://x") == "a" && made == 2 ? 0 : 1);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(made, 1);
}

// Threads locate paths, with tables of their own, while others register: every read is of a maker that was registered
// by then, and a store of equal settings and one maker is made once.
TEST(FileSystemRegistration, RegistersWhilePathsAreLocated) {
  const int schedules = static_cast<int>(Rounds(3000, {.quick = 300, .sanitized = 1000, .long_run = 20000}));
  for (int schedule = 0; schedule < schedules; ++schedule) {
    std::atomic<int> made = 0;
    std::atomic<int> started = 0;
    RegisterFileSystem("raced", EndpointFile(&made));
    const auto together = [&started](int threads) {
      ++started;
      while (started < threads) std::this_thread::yield();
    };
    std::thread registers([&] {
      together(3);
      RegisterFileSystem(Cat("other", schedule % 7), EndpointFile());
    });
    std::string seen[2];
    std::thread locates[2];
    for (int i = 0; i < 2; ++i) {
      locates[i] = std::thread([&, i] {
        together(3);
        const StorageScope scope(*TableOf("raced", "same"));
        seen[i] = BytesOf(*DefaultFileSystem(), "raced://x");
      });
    }
    registers.join();
    for (std::thread& thread : locates) thread.join();
    ASSERT_EQ(seen[0], "same");
    ASSERT_EQ(seen[1], "same");
    ASSERT_EQ(made, 1);
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", schedules);
}

}  // namespace
}  // namespace headrace
