#include "io/files/object_cache/part_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>
#include <thread>

#include "core/error.h"
#include "core/testing/rounds.h"
#include "io/files/file_system.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace::object_cache {
namespace {

constexpr int64_t kPlenty = int64_t{1} << 40;

// Object `number` has a length and bytes of its own.
std::vector<uint8_t> BytesOfObject(int number, int64_t least = 0) {
  std::vector<uint8_t> bytes(static_cast<size_t>(least + number * 37 % 501));
  std::mt19937 random(static_cast<uint32_t>(number));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

PartKey KeyOfObject(int number, int64_t least = 0) {
  const auto size = static_cast<int64_t>(BytesOfObject(number, least).size());
  return KeyOf("", {Cat("s3://bucket/", number), size, 1}, {0, size});
}

std::unique_ptr<PartFolder> OpenedFolder(const std::string& path, int64_t limit = kPlenty, int64_t noted_ns = 0) {
  auto folder = PartFolder::Open(*LocalFileSystem(), path, {.limit = limit, .noted_ns = noted_ns});
  EXPECT_TRUE(folder.ok()) << folder.status();
  return *std::move(folder);
}

bool StoreObject(PartFolder& folder, int number, int64_t least = 0) {
  return folder.Store(KeyOfObject(number, least), BytesOfObject(number, least));
}

// Whether it is kept; what is kept is right.
bool Keeps(const PartFolder& folder, int number, int64_t least = 0) {
  const auto part = folder.Find(KeyOfObject(number, least));
  if (!part.has_value()) return false;
  const std::vector<uint8_t> bytes = BytesOfObject(number, least);
  std::vector<uint8_t> got(bytes.size());
  EXPECT_TRUE(part->Read(0, absl::MakeSpan(got)));
  EXPECT_EQ(got, bytes);
  return true;
}

// All files below, but the ledger.
std::vector<std::filesystem::path> FilesBelow(const std::string& path) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file() && entry.path().filename() != "bytes") files.push_back(entry.path());
  }
  return files;
}

int64_t BytesBelow(const std::string& path) {
  int64_t bytes = 0;
  for (const auto& file : FilesBelow(path)) {
    std::error_code gone;
    const auto size = std::filesystem::file_size(file, gone);
    if (!gone) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

TEST(PartFolder, KeepsPartsForLaterProcesses) {
  const TemporaryFolder folder;
  {
    const auto parts = OpenedFolder(folder / "cache");
    EXPECT_FALSE(Keeps(*parts, 1));
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(StoreObject(*parts, i));
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(Keeps(*parts, i));
    EXPECT_TRUE(StoreObject(*parts, 1));
  }
  const auto parts = OpenedFolder(folder / "cache");
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(Keeps(*parts, i));
  EXPECT_FALSE(Keeps(*parts, 50));
  EXPECT_EQ(FilesBelow(folder / "cache").size(), 50u);
  EXPECT_EQ(parts->problem(), "");
}

TEST(PartFolder, IsForThisUserAlone) {
  const TemporaryFolder folder;
  EXPECT_TRUE(StoreObject(*OpenedFolder(folder / "cache"), 1));
  using std::filesystem::perms;
  const perms others = perms::group_all | perms::others_all;
  EXPECT_EQ(std::filesystem::status(folder / "cache/objects-1").permissions() & others, perms::none);
  for (const auto& file : FilesBelow(folder / "cache")) {
    EXPECT_EQ(std::filesystem::status(file).permissions() & others, perms::none);
  }
}

TEST(PartFolder, RefusesAFolderThatCannotBe) {
  const TemporaryFolder folder;
  folder.Write("file");
  const PartFolder::Options options{.limit = kPlenty};
  EXPECT_EQ(KindOf(PartFolder::Open(*LocalFileSystem(), folder / "file/cache", options).status()),
            ErrorKind::kNotFound);
  EXPECT_EQ(KindOf(PartFolder::Open(*LocalFileSystem(), std::string("a\0b", 3), options).status()), ErrorKind::kGraph);
}

TEST(PartFolder, StaysWithinItsLimit) {
  const TemporaryFolder folder;
  constexpr int64_t kLimit = 20'000;
  const auto parts = OpenedFolder(folder / "cache", kLimit);
  for (int i = 0; i < 300; ++i) {
    EXPECT_TRUE(StoreObject(*parts, i));
    EXPECT_TRUE(Keeps(*parts, i));
    EXPECT_LE(BytesBelow(folder / "cache"), kLimit);
  }
  EXPECT_GE(BytesBelow(folder / "cache"), kLimit / 2);
  // What alone exceeds the limit removes nothing.
  EXPECT_FALSE(StoreObject(*parts, 1000, kLimit));
  EXPECT_TRUE(Keeps(*parts, 299));
}

TEST(PartFolder, HalfOfTheFreeSpaceIsTheUsualLimit) {
  const TemporaryFolder folder;
  EXPECT_TRUE(StoreObject(*OpenedFolder(folder / "cache"), 1));
  const auto parts = OpenedFolder(folder / "cache", 0);
  EXPECT_GT(parts->limit(), 0);
  EXPECT_LE(parts->limit(), static_cast<int64_t>(std::filesystem::space(folder.path()).capacity));
}

// Uses it until the disk's clock, which ticks, notes a later time than that of all files.
void UseLast(const PartFolder& parts, int number, const std::string& folder) {
  const auto newest = [&folder] {
    int64_t most = 0;
    for (const auto& file : FilesBelow(folder)) {
      most = std::max(most, LocalFileSystem()->Stat(file.string())->changed_ns);
    }
    return most;
  };
  for (const int64_t before = newest(); newest() == before;) EXPECT_TRUE(Keeps(parts, number, 1000));
}

TEST(PartFolder, RemovesWhatWasNotUsedForLongest) {
  const TemporaryFolder folder;
  const auto parts = OpenedFolder(folder / "cache", 16'000);
  constexpr int kFirst = 8;
  for (int i = 0; i < kFirst; ++i) EXPECT_TRUE(StoreObject(*parts, i, 1000));
  for (const int used : {5, 2, 0}) UseLast(*parts, used, folder / "cache");
  size_t stored = kFirst;
  for (size_t there = stored; there == stored; there = FilesBelow(folder / "cache").size()) {
    ASSERT_LT(stored, 30u);
    EXPECT_TRUE(StoreObject(*parts, static_cast<int>(stored++), 1000));
  }
  for (const int used : {5, 2, 0}) EXPECT_TRUE(Keeps(*parts, used, 1000)) << used;
}

TEST(PartFolder, NeverTouchesWhatIsNotItsOwn) {
  const TemporaryFolder folder;
  const auto parts = OpenedFolder(folder / "cache", 5'000);
  const std::vector<std::string> names = {"photo.jpg",
                                          "objects-1/notes",
                                          "objects-1/00/notes.draft",
                                          "objects-1/00/00000000000000000000000000000000.007",
                                          "objects-1/00/0000000000000000000000000000000A.1",
                                          "objects-1/01/00000000000000000000000000000000.1"};
  for (const std::string& name : names) folder.Write("cache/" + name);
  for (int i = 0; i < 100; ++i) StoreObject(*parts, i);
  for (const std::string& name : names) EXPECT_TRUE(std::filesystem::exists(folder / ("cache/" + name))) << name;
}

TEST(PartFolder, MakesItsFolderAnew) {
  const TemporaryFolder folder;
  const auto parts = OpenedFolder(folder / "cache");
  EXPECT_TRUE(StoreObject(*parts, 1));
  std::filesystem::remove_all(folder / "cache");
  EXPECT_FALSE(Keeps(*parts, 1));
  EXPECT_TRUE(StoreObject(*parts, 1));
  EXPECT_TRUE(Keeps(*parts, 1));
}

TEST(PartFolder, CountsAnewWhereTheLedgerIsDamaged) {
  const TemporaryFolder folder;
  constexpr int64_t kLimit = 20'000;
  const auto parts = OpenedFolder(folder / "cache", kLimit);
  for (int i = 0; i < 30; ++i) StoreObject(*parts, i);
  for (const std::string_view ledger : {std::string_view("x"), std::string_view()}) {
    folder.Write("cache/objects-1/bytes", ledger);
    for (int i = 100; i < 200; ++i) {
      EXPECT_TRUE(StoreObject(*parts, i));
      EXPECT_LE(BytesBelow(folder / "cache"), kLimit);
    }
  }
}

TEST(PartFolder, ReplacesADamagedPart) {
  const TemporaryFolder folder;
  const auto parts = OpenedFolder(folder / "cache");
  EXPECT_TRUE(StoreObject(*parts, 3));
  const std::filesystem::path file = FilesBelow(folder / "cache").at(0);
  std::filesystem::resize_file(file, 10);
  EXPECT_FALSE(Keeps(*parts, 3));
  EXPECT_TRUE(StoreObject(*parts, 3));
  EXPECT_TRUE(Keeps(*parts, 3));
  parts->Drop(KeyOfObject(3));
  EXPECT_FALSE(Keeps(*parts, 3));
}

// A disk that is full, which a limit on the length of files stands for, ends the writing alone.
TEST(PartFolder, StopsWritingWhereTheDiskFails) {
  const TemporaryFolder folder;
  const auto parts = OpenedFolder(folder / "cache");
  EXPECT_TRUE(StoreObject(*parts, 1));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  rlimit little = before;
  little.rlim_cur = 600;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  EXPECT_FALSE(StoreObject(*parts, 2, 1000));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  EXPECT_NE(parts->problem(), "");
  EXPECT_FALSE(StoreObject(*parts, 2, 1000));
  EXPECT_FALSE(Keeps(*parts, 2, 1000));
  EXPECT_TRUE(Keeps(*parts, 1));
  EXPECT_EQ(FilesBelow(folder / "cache").size(), 1u);
}

TEST(PartFolder, ServesThreadsAndFoldersOfOneLimitAtOnce) {
  const TemporaryFolder folder;
  constexpr int64_t kLimit = 30'000;
  const int64_t rounds = Rounds(200, {.quick = 60, .sanitized = 40});
  const auto one = OpenedFolder(folder / "cache", kLimit);
  const auto other = OpenedFolder(folder / "cache", kLimit);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      PartFolder& parts = thread % 2 == 0 ? *one : *other;
      std::mt19937 random(static_cast<uint32_t>(thread));
      for (int64_t i = 0; i < rounds; ++i) {
        const int number = static_cast<int>(random() % 200);
        if (!Keeps(parts, number)) StoreObject(parts, number);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(BytesBelow(folder / "cache"), kLimit);
  EXPECT_EQ(one->problem(), "");
  EXPECT_EQ(other->problem(), "");
  std::printf("HEADRACE-COUNT schedules=%d\n", static_cast<int>(4 * rounds));
}

// Whenever a writer is killed, what is kept is right and within the limit, and no draft stays for ever.
TEST(PartFolder, LosesNoCountWhenWritersAreKilled) {
  const int64_t kills = Rounds(60, {.quick = 8, .sanitized = 8});
  constexpr int64_t kLimit = 40'000;
  const TemporaryFolder folder;
  std::mt19937 random(9);
  OpenedFolder(folder / "cache", kLimit);
  for (int64_t i = 0; i < kills; ++i) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto parts = OpenedFolder(folder / "cache", kLimit);
      for (int number = static_cast<int>(i);; ++number) {
        StoreObject(*parts, number % 400, 200);
        if (write(ends[1], "x", 1) < 0) _exit(1);
      }
    }
    close(ends[1]);
    char said = 0;
    for (uint64_t until = random() % 40; until > 0 && read(ends[0], &said, 1) == 1; --until) {
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    close(ends[0]);
    EXPECT_LE(BytesBelow(folder / "cache"), kLimit);
  }
  const auto parts = OpenedFolder(folder / "cache", kLimit);
  int kept = 0;
  for (int number = 0; number < 400; ++number) kept += Keeps(*parts, number, 200) ? 1 : 0;
  EXPECT_GT(kept, 0);
  for (int number = 1000; number < 1200; ++number) EXPECT_TRUE(StoreObject(*parts, number, 200));
  for (const auto& file : FilesBelow(folder / "cache")) EXPECT_NE(file.extension(), ".draft");
  std::printf("HEADRACE-COUNT fuzz=%d\n", static_cast<int>(kills));
}

}  // namespace
}  // namespace headrace::object_cache
