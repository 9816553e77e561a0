#include "io/files/file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/local_files.h"
#include "io/files/output_stream.h"
#include "io/files/testing/delayed_file_system.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const FileSystem& Local() { return *LocalFileSystem(); }

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(LocalFileSystem, ReadsAWholeFileIntoOneBuffer) {
  TemporaryFolder folder;
  const std::string bytes("\xff\xd8\0image", 8);
  const auto read = Local().Read(folder.Write("a.jpg", bytes));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->bytes_value(), bytes);
  EXPECT_EQ(read->dtype(), DType::kBytes);
  EXPECT_EQ(read->raw(), read->buffer()->data());
  EXPECT_TRUE(read->buffer().unique());
}

// Copies of the system's are fastest where both ends begin a page; no memory is spent on that.
TEST(LocalFileSystem, ReadsFilesOfManyPagesToTheBeginningOfOne) {
  TemporaryFolder folder;
  for (const size_t size : {(64 << 10) - 1, 64 << 10, 110'000, 200'000, 3 << 20}) {
    std::string bytes(size, 'x');
    for (size_t i = 0; i < size; i += 97) bytes[i] = static_cast<char>(i);
    const auto read = Local().Read(folder.Write("many", bytes));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->bytes_value(), bytes);
    const bool room = size >= 64 << 10 && size + 4096 <= read->buffer()->capacity();
    EXPECT_TRUE(!room || reinterpret_cast<uintptr_t>(read->raw()) % 4096 == 0) << size;
  }
}

TEST(LocalFileSystem, ReadsAnEmptyFile) {
  TemporaryFolder folder;
  const auto read = Local().Read(folder.Write("empty", ""));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->bytes_value(), "");
}

TEST(LocalFileSystem, ChargesTheRunningTaskForWhatItRead) {
  TemporaryFolder folder;
  const std::string path = folder.Write("big", std::string(3 << 20, 'b'));
  MemoryAccount* account = MemoryAccount::Open();
  {
    TaskMemory task(&BufferPool::Global(), account, 0);
    const auto read = Local().Read(path);
    ASSERT_TRUE(read.ok());
    EXPECT_GE(account->held(), 3 << 20);
  }
  account->Close();
}

TEST(LocalFileSystem, TakesNoMemoryBeyondTheBudgetForAFileOfHoles) {
  TemporaryFolder folder;
  constexpr int64_t kBytes = 8 << 20;
  const std::string holes = folder.Write("holes", "begin");
  std::filesystem::resize_file(holes, kBytes);
  const std::string full = folder.Write("full", std::string(kBytes, 'b'));
  for (const int64_t budget : {kBytes / 2, 2 * kBytes}) {
    MemoryAccount* account = MemoryAccount::Open(budget);
    {
      TaskMemory task(&BufferPool::Global(), account, 0);
      EXPECT_TRUE(Local().Read(full).ok()) << "one row may exceed the budget";
      const absl::Status read = Local().Read(holes).status();
      EXPECT_EQ(read.ok(), budget > kBytes) << read;
      const absl::Status range = Local().ReadRange(holes, 1, kBytes - 1).status();
      EXPECT_EQ(range.ok(), budget > kBytes) << range;
      EXPECT_TRUE(Local().ReadRange(holes, 0, 5).ok());
      if (budget < kBytes) {
        EXPECT_EQ(KindOf(read), ErrorKind::kData);
        EXPECT_FALSE(IsBeyondRow(read));
        EXPECT_THAT(Message(read), HasSubstr("most of it is a hole"));
        EXPECT_LE(account->peak(), kBytes + (kBytes >> 2)) << "that of the full file";
      }
    }
    account->Close();
  }
}

TEST(LocalFileSystem, TakesNoMemoryForARangeThatTheFileDoesNotHave) {
  TemporaryFolder folder;
  const absl::Status status = Local().ReadRange(folder.Write("five", "bytes"), 1, int64_t{1} << 60).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kData);
  EXPECT_THAT(Message(status), HasSubstr("ends at byte 5"));
}

TEST(LocalFileSystem, ReadsRanges) {
  TemporaryFolder folder;
  const std::string path = folder.Write("digits", "0123456789");
  EXPECT_EQ(Local().ReadRange(path, 3, 4)->bytes_value(), "3456");
  EXPECT_EQ(Local().ReadRange(path, 10, 0)->bytes_value(), "");
  const auto beyond = Local().ReadRange(path, 8, 4);
  EXPECT_EQ(KindOf(beyond.status()), ErrorKind::kData);
  EXPECT_THAT(Message(beyond.status()), AllOf(HasSubstr(path), HasSubstr("ends at byte 10")));
}

TEST(LocalFileSystem, StatsFilesAndFolders) {
  TemporaryFolder folder;
  const std::string path = folder.Write("five", "12345");
  const auto file = Local().Stat(path);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->type, EntryType::kFile);
  EXPECT_EQ(file->size, 5);
  EXPECT_GT(file->changed_ns, int64_t{1'500'000'000} * 1'000'000'000);
  const auto stat = Local().Stat(folder.path());
  ASSERT_TRUE(stat.ok());
  EXPECT_EQ(stat->type, EntryType::kFolder);
  folder.Link(folder.path(), "self");
  EXPECT_EQ(Local().Stat(folder / "self")->identity, stat->identity);
  EXPECT_NE(file->identity, stat->identity);
}

TEST(LocalFileSystem, ListsWhatEveryEntryIs) {
  TemporaryFolder folder;
  folder.Write("file", "123");
  folder.MakeFolder("sub");
  folder.Link("file", "to_file");
  folder.Link("sub", "to_folder");
  folder.Link("nowhere", "broken");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const bool sizes : {false, true}) {
    auto entries = Local().List(folder.path(), sizes);
    ASSERT_TRUE(entries.ok());
    std::sort(entries->begin(), entries->end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    std::string text;
    for (const FolderEntry& entry : *entries) {
      Append(text, entry.name, " ", static_cast<int>(entry.type), entry.link ? " link " : " ", entry.size, "\n");
    }
    const std::string size = sizes ? "3" : "-1";
    EXPECT_EQ(text, Cat("broken 2 link -1\nfile 0 ", size, "\npipe 3 -1\nsub 1 -1\nto_file 0 link ", size,
                        "\nto_folder 1 link -1\n"));
  }
}

TEST(LocalFileSystem, NamesAMissingFileAndItsNearestNeighbour) {
  TemporaryFolder folder;
  folder.Write("cat/1.jpg");
  const std::string missing = folder / "cats/1.jpg";
  for (const absl::Status& status :
       {Local().Read(missing).status(), Local().Open(missing).status(), Local().List(missing).status()}) {
    EXPECT_EQ(KindOf(status), ErrorKind::kNotFound);
    EXPECT_THAT(Message(status), AllOf(HasSubstr(missing), HasSubstr("has no 'cats'"),
                                       HasSubstr(Cat("did you mean ", folder / "cat", "?"))));
  }
}

TEST(LocalFileSystem, NamesTheFirstMissingFolderOfADeepPath) {
  TemporaryFolder folder;
  std::string deep = folder.path();
  for (int i = 0; i < 40; ++i) Append(deep, "/level", i);
  const absl::Status status = Local().Read(deep).status();
  EXPECT_THAT(Message(status), AllOf(HasSubstr("has no 'level0'"), Not(HasSubstr("did you mean"))));
}

TEST(LocalFileSystem, SaysSoWhereAFileStandsForAFolder) {
  TemporaryFolder folder;
  folder.Write("file");
  EXPECT_THAT(Message(Local().Read(folder / "file/x").status()), HasSubstr("is a file, not a folder"));
  EXPECT_THAT(Message(Local().List(folder / "file").status()), HasSubstr("is a file, where a folder is expected"));
  EXPECT_THAT(Message(Local().Read(folder.path()).status()), HasSubstr("is a folder, where a file is expected"));
  EXPECT_THAT(Message(Local().Open(folder.path()).status()), HasSubstr("is a folder, where a file is expected"));
}

TEST(LocalFileSystem, SaysSoOfBrokenLinksAndCirclesAndPipes) {
  TemporaryFolder folder;
  folder.Link("nowhere", "broken");
  folder.Link("circle", "circle");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(Message(Local().Read(folder / "broken").status()), HasSubstr("symbolic link to something"));
  EXPECT_THAT(Message(Local().Read(folder / "circle").status()), HasSubstr("form a cycle"));
  EXPECT_EQ(KindOf(Local().Read(folder / "pipe").status()), ErrorKind::kUnsupported);
}

TEST(LocalFileSystem, WaitsForNoSocketAndNoPipe) {
  TemporaryFolder folder;
  sockaddr_un address{AF_UNIX, {}};
  (folder / "socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int number = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(number, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  close(number);
  for (const std::string& path : {folder / "socket", std::string("/dev/null")}) {
    EXPECT_EQ(KindOf(Local().Read(path).status()), ErrorKind::kUnsupported) << path;
    EXPECT_THAT(Message(Local().Open(path).status()), HasSubstr("a pipe, a socket or a device"));
  }
}

TEST(LocalFileSystem, RefusesANulInAPath) {
  TemporaryFolder folder;
  const std::string path = folder.Write("file") + std::string("\0.jpg", 5);
  for (const absl::Status& status :
       {Local().Read(path).status(), Local().Open(path).status(), Local().Stat(path).status(),
        Local().List(path).status(), Local().Write(path, {"x"}), Local().ReadRange(path, 0, 1).status()}) {
    EXPECT_EQ(KindOf(status), ErrorKind::kGraph);
    EXPECT_THAT(Message(status), HasSubstr("file\\0.jpg' contains a NUL character"));
  }
}

TEST(LocalFileSystem, SaysSoWhereAFileIsWrittenToWhileItIsRead) {
  TemporaryFolder folder;
  const std::string path = folder.Write("file", std::string(1 << 20, 'a'));
  std::atomic<bool> ended{false};
  std::thread writer([&] {
    for (size_t i = 0; !ended; ++i) folder.Write("file", std::string(i % 2 == 0 ? 1000 : 1 << 20, 'a'));
  });
  int64_t torn = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (torn == 0 && std::chrono::steady_clock::now() < until) {
    const auto read = Local().Read(path);
    torn += read.ok() ? 0 : 1;
    if (read.ok()) continue;
    EXPECT_EQ(KindOf(read.status()), ErrorKind::kData);
    EXPECT_THAT(Message(read.status()), AllOf(HasSubstr(path), HasSubstr("written to while it was read")));
  }
  ended = true;
  writer.join();
  EXPECT_GT(torn, 0);
}

// Root may read everything, by powers that this thread can put down. Returns those it had in effect.
std::array<uint32_t, 2> SwapPowers(std::array<uint32_t, 2> effective) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  EXPECT_EQ(syscall(SYS_capget, &header, data), 0);
  const std::array<uint32_t, 2> before = {data[0].effective, data[1].effective};
  for (int i = 0; i < 2; ++i) data[i].effective = effective[i];
  EXPECT_EQ(syscall(SYS_capset, &header, data), 0);
  return before;
}

TEST(LocalFileSystem, SaysSoWherePermissionIsMissing) {
  TemporaryFolder folder;
  const std::string path = folder.Write("secret");
  folder.MakeFolder("closed");
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  ASSERT_EQ(chmod((folder / "closed").c_str(), 0), 0);
  const std::array<uint32_t, 2> powers = SwapPowers({0, 0});
  const absl::Status read = Local().Read(path).status();
  const absl::Status listed = Local().List(folder / "closed").status();
  SwapPowers(powers);
  chmod((folder / "closed").c_str(), 0755);
  EXPECT_THAT(Message(read), AllOf(HasSubstr(path), HasSubstr("may not read it (permission denied)")));
  EXPECT_THAT(Message(listed), AllOf(HasSubstr("closed"), HasSubstr("may not list it (permission denied)")));
}

// A listing without an entry would be a lost row.
TEST(LocalFileSystem, LeavesOutNothingThatItMayNotLookAt) {
  TemporaryFolder folder;
  folder.Write("closed/a");
  folder.MakeFolder("links");
  folder.Link(folder / "closed/a", "links/into");
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod((folder / "closed").c_str(), 0444), 0);
  const std::array<uint32_t, 2> powers = SwapPowers({0, 0});
  const absl::Status file = Local().List(folder / "closed", /*sizes=*/true).status();
  const absl::Status link = Local().List(folder / "links").status();
  SwapPowers(powers);
  chmod((folder / "closed").c_str(), 0755);
  EXPECT_THAT(Message(file), AllOf(HasSubstr("closed/a"), HasSubstr("may not look at it (permission denied)")));
  EXPECT_THAT(Message(link), AllOf(HasSubstr("links/into"), HasSubstr("may not look at it (permission denied)")));
}

TEST(LocalFileSystem, ReplacesAWholeFileAndLeavesNoDraft) {
  TemporaryFolder folder;
  const std::string path = folder.Write("state", "old and longer");
  ASSERT_TRUE(Local().Write(path, {"ne", "", "w"}).ok());
  EXPECT_EQ(Local().Read(path)->bytes_value(), "new");
  EXPECT_EQ(Local().List(folder.path())->size(), 1u);
  folder.MakeFolder("taken/by");
  EXPECT_FALSE(Local().Write(folder / "taken", {"x"}).ok());
  EXPECT_THAT(Message(Local().Write(folder / "missing/file", {"x"})), HasSubstr("has no 'missing'"));
  EXPECT_EQ(Local().List(folder.path())->size(), 2u);
}

TEST(FileSystem, AnInjectedOneCanFail) {
  TemporaryFolder folder;
  const std::string path = folder.Write("a", "bytes");
  FaultyFileSystem faulty(LocalFileSystem(), [](std::string_view call, const std::string& path) {
    return call == "ReadAt" ? DataError(path, ": the disk is on fire") : absl::OkStatus();
  });
  EXPECT_TRUE(faulty.Read(path).ok());
  EXPECT_THAT(Message(faulty.ReadRange(path, 0, 2).status()), HasSubstr("on fire"));
}

TEST(FileSystem, JoinsPaths) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("/", "b"), "/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
}

TEST(RandomAccessFile, ReadsForManyThreadsAtOnce) {
  const TemporaryFolder folder;
  std::string bytes(1 << 16, 'x');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
  const auto file = Local().Open(folder.Write("a", bytes));
  ASSERT_TRUE(file.ok());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::string read(100, ' ');
      for (size_t at = t; at + read.size() < bytes.size(); at += 101) {
        const auto target = absl::MakeSpan(reinterpret_cast<uint8_t*>(read.data()), read.size());
        const auto got = (*file)->ReadAt(static_cast<int64_t>(at), target);
        wrong += !got.ok() || *got != 100 || read != bytes.substr(at, 100);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(RandomAccessFile, CompletesALocalReadThatWasAskedFor) {
  const TemporaryFolder folder;
  const auto file = Local().Open(folder.Write("a", "0123456789"));
  std::string read(8, ' ');
  absl::StatusOr<int64_t> got;
  (*file)->StartReadAt(4, absl::MakeSpan(reinterpret_cast<uint8_t*>(read.data()), read.size()),
                       [&](absl::StatusOr<int64_t> done) { got = std::move(done); });
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(*got, 6);
  EXPECT_EQ(read.substr(0, 6), "456789");
}

// Two threads have 256 reads of a slow file system outstanding, which completes them in any order.
TEST(RandomAccessFile, HasManyReadsOutstandingOnTwoThreads) {
  constexpr size_t kReads = 128;
  constexpr size_t kBytes = 16;
  const TemporaryFolder folder;
  std::string bytes;
  for (size_t i = 0; i < 2 * kReads * kBytes; ++i) bytes += static_cast<char>('a' + i % 23);
  const DelayedFileSystem files(LocalFileSystem());
  const auto file = files.Open(folder.Write("a", bytes));
  std::string read(bytes.size(), ' ');
  std::atomic<size_t> completed{0};
  const auto ask = [&](size_t first) {
    for (size_t i = first; i < first + kReads; ++i) {
      const auto target = absl::MakeSpan(reinterpret_cast<uint8_t*>(read.data()) + i * kBytes, kBytes);
      (*file)->StartReadAt(static_cast<int64_t>(i * kBytes), target,
                           [&](const absl::StatusOr<int64_t>& got) { completed += got.ok() && *got == kBytes; });
    }
  };
  std::thread first(ask, 0);
  std::thread second(ask, kReads);
  files.WaitFor(2 * kReads);
  first.join();
  second.join();
  EXPECT_EQ(files.outstanding(), 2 * kReads);
  EXPECT_EQ(completed, 0u);
  for (size_t which = 0; files.CompleteOne(which); which += 37) {
  }
  EXPECT_EQ(completed, 2 * kReads);
  EXPECT_EQ(read, bytes);
}

TEST(LocalFileSystem, ListsALargeFolderByPages) {
  const TemporaryFolder folder;
  constexpr size_t kFiles = 9000;
  for (size_t i = 0; i < kFiles; ++i) folder.Write(Cat("f", i), "");
  auto pages = Local().ListPages(folder.path(), false);
  ASSERT_TRUE(pages.ok());
  std::vector<std::string> names;
  size_t count = 0;
  while (true) {
    const auto page = (*pages)->Next();
    ASSERT_TRUE(page.ok()) << page.status();
    if (page->empty()) break;
    ++count;
    for (const FolderEntry& entry : *page) names.push_back(entry.name);
  }
  EXPECT_GE(count, 3u);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()) - names.begin(), static_cast<std::ptrdiff_t>(kFiles));
  // A listing that nobody goes on with ends there.
  pages = Local().ListPages(folder.path(), false);
  EXPECT_LT((*pages)->Next()->size(), kFiles);
}

mode_t ModeOf(const std::string& path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0 ? found.st_mode & 0777 : 0;
}

TEST(LocalFiles, MakesAFolderAndThoseAboveIt) {
  TemporaryFolder folder;
  const LocalFiles& local = *Local().local();
  for (const char* path : {"a/b/c", "a/b/c", "d//e/", "./f/./g/../h"}) {
    EXPECT_TRUE(local.MakeOwnFolder(folder / path).ok()) << path;
    EXPECT_TRUE(std::filesystem::is_directory(folder / path)) << path;
    EXPECT_EQ(ModeOf(folder / path), 0700u) << path;
  }
  folder.Write("file");
  for (const char* path : {"file", "file/below"}) {
    const absl::Status status = local.MakeOwnFolder(folder / path);
    EXPECT_EQ(KindOf(status), ErrorKind::kNotFound) << status;
    EXPECT_THAT(Message(status), AllOf(HasSubstr("cannot make the folder"), HasSubstr(path)));
  }
}

TEST(LocalFiles, LetsOneHolderLockAFile) {
  const TemporaryFolder folder;
  const LocalFiles& local = *Local().local();
  const std::string path = folder / "a";
  {
    const auto made = local.MakeLocked(path, "head");
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_FALSE(local.OpenLocked(path).ok());
    ASSERT_TRUE((*made)->WriteAt(4, absl::MakeConstSpan(reinterpret_cast<const uint8_t*>("tail"), 4)).ok());
    EXPECT_TRUE((*made)->Sync().ok());
  }
  EXPECT_TRUE(local.OpenLocked(path).ok());
  EXPECT_EQ(Local().Read(path)->bytes_value(), "headtail");
  EXPECT_FALSE(local.MakeLocked(folder / "none/b", "").ok());
  EXPECT_TRUE(local.Remove(path).ok());
  EXPECT_FALSE(local.OpenLocked(path).ok());
}

TEST(LocalFiles, MakesFilesOfCachesForThisUserAlone) {
  const TemporaryFolder folder;
  const LocalFiles& local = *Local().local();
  ASSERT_TRUE(local.MakeLocked(folder / "rows", "").ok());
  ASSERT_TRUE(local.Write(folder / "list", {"x"}, {.own = true, .durable = false}).ok());
  EXPECT_EQ(ModeOf(folder / "rows"), 0600u);
  EXPECT_EQ(ModeOf(folder / "list"), 0600u);
}

TEST(LocalFiles, RefusesALogThatIsNotItsOwn) {
  const TemporaryFolder folder;
  const LocalFiles& local = *Local().local();
  const std::string kept = folder.Write("kept", "as it was");
  folder.Link("kept", "link");
  folder.Link("nowhere", "to_nothing");
  std::filesystem::create_hard_link(kept, folder / "second");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const auto& [name, why] :
       std::vector<std::pair<std::string, std::string>>{{"link", "is a symbolic link"},
                                                        {"to_nothing", "is a symbolic link"},
                                                        {"second", "has 2 names"},
                                                        {"pipe", "is a pipe, a socket or a device"}}) {
    const absl::Status status = local.OpenLocked(folder / name).status();
    EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported) << status;
    EXPECT_THAT(Message(status), AllOf(HasSubstr(name), HasSubstr(why), HasSubstr("remove it")));
  }
  EXPECT_EQ(Local().Read(kept)->bytes_value(), "as it was");
  EXPECT_FALSE(std::filesystem::exists(folder / "nowhere"));
}

}  // namespace
}  // namespace headrace
