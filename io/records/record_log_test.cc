#include "io/records/record_log.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/row_id.h"
#include "core/stop_signal.h"
#include "core/testing/rounds.h"
#include "core/text.h"
#include "io/files/file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "io/records/crc32c.h"

namespace headrace {
namespace {

constexpr int64_t kNoLimit = int64_t{1} << 40;

using Bytes = std::vector<uint8_t>;

// Every key has its own length and bytes.
Bytes BytesOf(uint64_t key) {
  Bytes bytes(key * 7 % 61);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(Scramble(key) >> (i % 8 * 8));
  return bytes;
}

std::unique_ptr<RecordLog> Opened(const TemporaryFolder& folder, const std::string& name = "a",
                                  int64_t limit = kNoLimit) {
  auto log = RecordLog::Open(*LocalFileSystem(), folder.path(), name);
  EXPECT_TRUE(log.ok()) << log.status();
  (*log)->SetLimit(limit);
  return *std::move(log);
}

void Fill(RecordLog& log, uint64_t from, uint64_t to) {
  for (uint64_t key = from; key < to; ++key) EXPECT_TRUE(log.Append(key, BytesOf(key))) << key;
}

// The keys below `end` that are there; fails where one has other bytes than it should.
std::vector<uint64_t> KeysIn(RecordLog& log, uint64_t end) {
  std::vector<uint64_t> keys;
  for (uint64_t key = 0; key < end; ++key) {
    const std::optional<size_t> length = log.Find(key);
    if (!length.has_value()) continue;
    Bytes bytes(*length);
    if (!log.Read(key, absl::MakeSpan(bytes))) continue;
    EXPECT_EQ(bytes, BytesOf(key)) << key;
    keys.push_back(key);
  }
  return keys;
}

std::vector<uint64_t> UpTo(uint64_t end) {
  std::vector<uint64_t> keys(end);
  for (uint64_t key = 0; key < end; ++key) keys[key] = key;
  return keys;
}

std::vector<std::string> FilesEnding(const TemporaryFolder& folder, const std::string& end) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() == end) files.push_back(entry.path().string());
  }
  return files;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(RecordLog, GivesBackWhatItWasGiven) {
  const TemporaryFolder folder;
  const auto log = Opened(folder);
  Fill(*log, 0, 20);
  EXPECT_EQ(KeysIn(*log, 30), UpTo(20));
}

TEST(RecordLog, KeepsForLaterRunsWithAndWithoutAList) {
  const TemporaryFolder folder;
  Fill(*Opened(folder), 0, 20);
  Fill(*Opened(folder), 20, 25);
  EXPECT_EQ(FilesEnding(folder, ".list").size(), 2u);
  EXPECT_EQ(KeysIn(*Opened(folder), 30), UpTo(25));
  for (const std::string& list : FilesEnding(folder, ".list")) std::filesystem::remove(list);
  EXPECT_EQ(KeysIn(*Opened(folder), 30), UpTo(25));
}

TEST(RecordLog, PassesOverFilesOfAnotherName) {
  const TemporaryFolder folder;
  Fill(*Opened(folder, "a"), 0, 5);
  EXPECT_EQ(KeysIn(*Opened(folder, "b"), 10), UpTo(0));
  EXPECT_EQ(KeysIn(*Opened(folder, "a"), 10), UpTo(5));
}

TEST(RecordLog, StaysWithinItsLimit) {
  const TemporaryFolder folder;
  const auto log = Opened(folder, "a", 500);
  int kept = 0;
  for (uint64_t key = 0; key < 40; ++key) kept += log->Append(key, BytesOf(key)) ? 1 : 0;
  EXPECT_GT(kept, 3);
  EXPECT_LT(kept, 15);
  EXPECT_LE(log->bytes(), 500);
  EXPECT_FALSE(Opened(folder, "a", 100)->Append(99, BytesOf(99))) << "what is there counts";
}

TEST(RecordLog, AppendsARecordOnce) {
  const TemporaryFolder folder;
  const auto log = Opened(folder);
  Fill(*log, 3, 4);
  const int64_t bytes = log->bytes();
  Fill(*log, 3, 4);
  EXPECT_EQ(log->bytes(), bytes);
}

TEST(RecordLog, SaysWhichFolderCannotBeMade) {
  const TemporaryFolder folder;
  folder.Write("file");
  const auto log = RecordLog::Open(*LocalFileSystem(), folder / "file/below", "a");
  EXPECT_NE(std::string(log.status().message()).find("file/below"), std::string::npos) << log.status();
}

TEST(RecordLog, SaysThatTheMachineLacksWhatItNeeds) {
  const TemporaryFolder folder;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_NOFILE, &none);
  const auto log = RecordLog::Open(*LocalFileSystem(), folder.path(), "a");
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(KindOf(log.status()), ErrorKind::kResource) << log.status();
  EXPECT_NE(std::string(log.status().message()).find(folder.path()), std::string::npos) << log.status();
}

// The system's limit on the length of files simulates a full disk.
TEST(RecordLog, StopsWritingWhereTheDiskIsFull) {
  const TemporaryFolder folder;
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 300;
  setrlimit(RLIMIT_FSIZE, &small);
  uint64_t kept = 0;
  {
    const auto log = Opened(folder);
    while (kept < 40 && log->Append(kept, BytesOf(kept))) ++kept;
    EXPECT_TRUE(log->failed());
    EXPECT_FALSE(log->Append(50, BytesOf(0))) << "nothing more, though it might fit";
    EXPECT_FALSE(log->Flush());
    EXPECT_EQ(KeysIn(*log, 60), UpTo(kept));
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_GT(kept, 2u);
  EXPECT_LT(kept, 10u);
  EXPECT_EQ(KeysIn(*Opened(folder), 60), UpTo(kept));
}

// A file cut at any byte gives its first records, whole, and nothing else.
TEST(RecordLog, GivesNoTornRecordOfAFileCutAnywhere) {
  const TemporaryFolder source;
  Fill(*Opened(source), 0, 8);
  const std::string whole = Contents(FilesEnding(source, ".rows")[0]);
  const std::string list = Contents(FilesEnding(source, ".list")[0]);
  size_t most = 0;
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    for (const bool listed : {false, true}) {
      const TemporaryFolder folder;
      folder.Write("x.rows", whole.substr(0, cut));
      if (listed) folder.Write("x.list", list);
      const std::vector<uint64_t> keys = KeysIn(*Opened(folder), 10);
      EXPECT_EQ(keys, UpTo(keys.size())) << cut;
      EXPECT_GE(keys.size(), most) << cut;
      most = keys.size();
    }
  }
  EXPECT_EQ(most, 8u);
  std::printf("HEADRACE-COUNT fuzz=%d\n", static_cast<int>(2 * whole.size()));
}

// Any byte of a file or of its list may be another one: what is given out is right.
TEST(RecordLog, GivesNoWrongRecordOfADamagedFile) {
  const TemporaryFolder source;
  Fill(*Opened(source), 0, 8);
  const std::string whole = Contents(FilesEnding(source, ".rows")[0]);
  const std::string list = Contents(FilesEnding(source, ".list")[0]);
  const auto damaged = [](std::string bytes, size_t at) {
    bytes[at] = static_cast<char>(bytes[at] ^ 0x5a);
    return bytes;
  };
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const bool listed : {false, true}) {
      const TemporaryFolder folder;
      folder.Write("x.rows", damaged(whole, at));
      if (listed) folder.Write("x.list", list);
      const size_t kept = KeysIn(*Opened(folder), 10).size();
      EXPECT_LE(kept, 8u);
      const bool one_lost_at_most = listed && at >= 16;
      EXPECT_GE(kept, one_lost_at_most ? 7u : 0u) << at;
    }
  }
  for (size_t at = 0; at < list.size(); ++at) {
    const TemporaryFolder folder;
    folder.Write("x.rows", whole);
    folder.Write("x.list", damaged(list, at));
    EXPECT_EQ(KeysIn(*Opened(folder), 10), UpTo(8)) << at;
  }
  std::printf("HEADRACE-COUNT fuzz=%d\n", static_cast<int>(2 * whole.size() + list.size()));
}

TEST(RecordLog, ForgetsARecordThatWasFoundDamaged) {
  const TemporaryFolder folder;
  Fill(*Opened(folder), 8, 9);
  const std::string path = FilesEnding(folder, ".rows")[0];
  std::string bytes = Contents(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  const auto log = Opened(folder);
  std::ofstream(path, std::ios::binary) << bytes;
  Bytes target(BytesOf(8).size());
  EXPECT_FALSE(log->Read(8, absl::MakeSpan(target)));
  EXPECT_FALSE(log->Find(8).has_value());
  EXPECT_TRUE(log->Append(8, BytesOf(8)));
  EXPECT_EQ(KeysIn(*log, 9), std::vector<uint64_t>{8});
}

// A list's numbers may be any, after a right checksum.
// Files are read in the order of their names, which are random.
TEST(RecordLog, ReadsTheSoundOneOfTwoRecords) {
  constexpr uint64_t kKey = 3;
  for (int round = 0; round < 20; ++round) {
    const TemporaryFolder folder;
    Fill(*Opened(folder), kKey, kKey + 1);
    const std::string path = FilesEnding(folder, ".rows")[0];
    std::string bytes = Contents(path);
    bytes.back() ^= 1;
    std::ofstream(path, std::ios::binary) << bytes;
    {
      const auto log = Opened(folder);
      EXPECT_TRUE(KeysIn(*log, kKey + 1).empty());
      Fill(*log, kKey, kKey + 1);
    }
    EXPECT_EQ(KeysIn(*Opened(folder), kKey + 1), std::vector<uint64_t>{kKey});
    // Also where the file of the one that is read first goes.
    std::filesystem::remove(path);
    EXPECT_EQ(KeysIn(*Opened(folder), kKey + 1), std::vector<uint64_t>{kKey});
  }
}

TEST(RecordLog, LooksAtWhatAListSays) {
  struct Entry {
    uint64_t key;
    int64_t offset;
    uint64_t length;
    uint32_t checksum;
    uint32_t nothing;
  };
  const TemporaryFolder source;
  Fill(*Opened(source), 0, 8);
  const std::string whole = Contents(FilesEnding(source, ".rows")[0]);
  const std::string list = Contents(FilesEnding(source, ".list")[0]);
  constexpr size_t kHead = 40;
  const auto sealed = [](std::string bytes) {
    const uint32_t checksum = Crc32c(bytes.data() + kHead, bytes.size() - kHead);
    std::memcpy(&bytes[32], &checksum, sizeof(checksum));
    return bytes;
  };
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    std::string hostile = list;
    Entry entry;
    const size_t at = kHead + sizeof(Entry) * (random() % 8);
    std::memcpy(&entry, &hostile[at], sizeof(entry));
    const uint64_t number = random() >> random() % 64;
    if (round % 3 == 0) entry.offset = static_cast<int64_t>(number);
    if (round % 3 == 1) entry.length = number;
    std::memcpy(&hostile[at], &entry, sizeof(entry));
    if (round % 3 == 2) std::memcpy(&hostile[24], &number, sizeof(number));  // bytes covered
    const TemporaryFolder folder;
    folder.Write("x.rows", whole);
    folder.Write("x.list", sealed(hostile));
    const auto log = Opened(folder);
    for (uint64_t key = 0; key < 8; ++key) EXPECT_LE(log->Find(key).value_or(0), whole.size());
    EXPECT_GE(KeysIn(*log, 8).size(), 7u);
  }
}

// Else a list of n entries, each of which names the whole file, would have each record read n times the file.
TEST(RecordLog, ReadsNoListWhoseRecordsShareBytes) {
  struct Entry {
    uint64_t key;
    int64_t offset;
    uint64_t length;
    uint32_t checksum;
    uint32_t nothing;
  };
  constexpr size_t kHead = 40;
  const TemporaryFolder folder;
  Fill(*Opened(folder), 0, 8);
  const std::string path = FilesEnding(folder, ".list")[0];
  std::string list = Contents(path);
  const auto covered = static_cast<int64_t>(Contents(FilesEnding(folder, ".rows")[0]).size());
  for (size_t i = 0; i < 8; ++i) {
    const Entry entry = {5, 48, static_cast<uint64_t>(covered - 48), 0, 0};
    std::memcpy(&list[kHead + i * sizeof(Entry)], &entry, sizeof(entry));
  }
  const uint32_t checksum = Crc32c(list.data() + kHead, list.size() - kHead);
  std::memcpy(&list[32], &checksum, sizeof(checksum));
  folder.Write(std::filesystem::path(path).filename().string(), list);
  EXPECT_EQ(KeysIn(*Opened(folder), 8), UpTo(8)) << "the file was scanned";
}

// A list that is a hole of the disk: its entries are looked at before memory is taken for all that it claims.
TEST(RecordLog, TakesNoMemoryForWhatAListClaims) {
  constexpr uint64_t kClaimed = uint64_t{1} << 25;
  const TemporaryFolder folder;
  Fill(*Opened(folder), 0, 8);
  const std::string path = FilesEnding(folder, ".list")[0];
  std::string list = Contents(path).substr(0, 40);
  std::memcpy(&list[16], &kClaimed, sizeof(kClaimed));
  folder.Write(std::filesystem::path(path).filename().string(), list);
  std::filesystem::resize_file(path, 40 + 32 * kClaimed);
  const auto most_kib = [] {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = most_kib();
  EXPECT_EQ(KeysIn(*Opened(folder), 8), UpTo(8));
  EXPECT_LT(most_kib() - before, 256 << 10);
}

TEST(RecordLog, EndsWhereItsWorkIsNoLongerWanted) {
  const TemporaryFolder folder;
  Fill(*Opened(folder), 0, 8);
  const std::atomic<bool> stop{true};
  const StopSignal signal(&stop);
  EXPECT_EQ(KindOf(RecordLog::Open(*LocalFileSystem(), folder.path(), "a").status()), ErrorKind::kClosed);
}

TEST(RecordLog, WaitsForNoPipe) {
  const TemporaryFolder folder;
  Fill(*Opened(folder), 0, 5);
  folder.Write("b.rows", Contents(FilesEnding(folder, ".rows")[0]));
  ASSERT_EQ(mkfifo((folder / "a.rows").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((folder / "b.list").c_str(), 0600), 0);
  EXPECT_EQ(KeysIn(*Opened(folder), 9), UpTo(5));
}

TEST(RecordLog, RefusesANulInItsFolder) {
  const TemporaryFolder folder;
  const auto log = RecordLog::Open(*LocalFileSystem(), folder.path() + std::string("\0/x", 3), "a");
  EXPECT_NE(std::string(log.status().message()).find("contains a NUL"), std::string::npos) << log.status();
}

// As so many writers leave them that were cut short, some with a list.
void LeaveFiles(const TemporaryFolder& folder, uint64_t files, uint64_t records_each = 1) {
  for (uint64_t i = 0; i < files; ++i) {
    const TemporaryFolder one;
    Fill(*Opened(one), i * records_each, (i + 1) * records_each);
    folder.Write(Cat(i, ".rows"), Contents(FilesEnding(one, ".rows")[0]));
    if (i % 2 == 0) folder.Write(Cat(i, ".list"), Contents(FilesEnding(one, ".list")[0]));
  }
}

TEST(RecordLog, OpensFewFilesAtOnce) {
  const TemporaryFolder folder;
  LeaveFiles(folder, RecordLog::kMostSmall);
  const auto log = Opened(folder);
  EXPECT_EQ(KeysIn(*log, 50), UpTo(RecordLog::kMostSmall));
  EXPECT_EQ(KeysIn(*log, 50), UpTo(RecordLog::kMostSmall));
  EXPECT_EQ(FilesEnding(folder, ".rows").size(), RecordLog::kMostSmall) << "so few stay as they are";
  EXPECT_LE(log->open_files(), RecordLog::kMostOpen);
}

TEST(RecordLog, MergesManySmallFiles) {
  const TemporaryFolder folder;
  LeaveFiles(folder, 300, 2);
  {
    const auto log = Opened(folder);
    EXPECT_EQ(KeysIn(*log, 700), UpTo(600));
    EXPECT_LE(log->open_files(), RecordLog::kMostOpen + 1);
    EXPECT_EQ(FilesEnding(folder, ".rows").size(), 1u);
    EXPECT_EQ(log->bytes(), static_cast<int64_t>(std::filesystem::file_size(FilesEnding(folder, ".rows")[0])));
    Fill(*log, 600, 610);
  }
  EXPECT_EQ(FilesEnding(folder, ".list").size(), 1u);
  EXPECT_EQ(KeysIn(*Opened(folder), 700), UpTo(610));
}

TEST(RecordLog, LeavesFilesAloneThatAreWrittenToOrOfAnotherName) {
  const TemporaryFolder folder;
  LeaveFiles(folder, 100);
  const auto writer = Opened(folder);
  Fill(*writer, 200, 203);
  Fill(*Opened(folder, "b"), 0, 1);
  const size_t before = FilesEnding(folder, ".rows").size();
  EXPECT_EQ(before, 2u) << "the writer's, with what it merged, and the other name's";
  LeaveFiles(folder, 100);
  const auto log = Opened(folder);
  EXPECT_EQ(KeysIn(*log, 203).size(), 103u);
  EXPECT_LE(FilesEnding(folder, ".rows").size(), before + 1);
  Fill(*writer, 203, 204);
  EXPECT_EQ(KeysIn(*writer, 204).size(), 104u);
  EXPECT_EQ(KeysIn(*Opened(folder), 204).size(), 104u);
  EXPECT_EQ(KeysIn(*Opened(folder, "b"), 5), UpTo(1));
}

TEST(RecordLog, FindsAgainWhatOthersMerged) {
  const TemporaryFolder folder;
  LeaveFiles(folder, RecordLog::kMostSmall);
  const auto reader = Opened(folder);
  const TemporaryFolder more;
  LeaveFiles(more, 100);
  for (const std::string& path : FilesEnding(more, ".rows")) {
    folder.Write(std::filesystem::path(path).filename().string() + "x.rows", Contents(path));
  }
  const auto merger = Opened(folder);
  EXPECT_EQ(FilesEnding(folder, ".rows").size(), 1u);
  EXPECT_EQ(KeysIn(*reader, 200), UpTo(100)) << "and what came meanwhile";
}

TEST(RecordLog, DropsDamagedRecordsAsItMerges) {
  const TemporaryFolder folder;
  LeaveFiles(folder, 100);
  const std::string path = folder / "8.rows";
  std::string bytes = Contents(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  folder.Write("8.rows", bytes);
  const std::vector<uint64_t> keys = KeysIn(*Opened(folder), 100);
  EXPECT_EQ(keys.size(), 99u);
  EXPECT_FALSE(std::binary_search(keys.begin(), keys.end(), 8));
}

// Killed at any moment, a merge loses nothing, and the next one goes on.
TEST(RecordLog, LosesNothingWhenKilledInTheMiddleOfAMerge) {
  const int kills = Rounds(10, {.quick = 3, .sanitized = 3});
  const TemporaryFolder whole;
  LeaveFiles(whole, 60);
  std::mt19937 random(3);
  int midway = 0;
  for (int i = 0; i < kills; ++i) {
    const TemporaryFolder folder;
    std::filesystem::copy(whole.path(), folder / "log");
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto log = RecordLog::Open(*LocalFileSystem(), folder / "log", "a");
      _exit(0);
    }
    usleep(random() % 5'000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "log")) files += entry.is_regular_file();
    midway += files > 2 && files < 90 ? 1 : 0;
    auto log = RecordLog::Open(*LocalFileSystem(), folder / "log", "a");
    ASSERT_TRUE(log.ok());
    EXPECT_EQ(KeysIn(**log, 300), UpTo(60));
  }
  std::printf("HEADRACE-COUNT fuzz=%d\n", kills);
  std::printf("killed in the middle: %d of %d\n", midway, kills);
}

TEST(RecordLog, ClearsAllButWhatOthersWrite) {
  const TemporaryFolder folder;
  LeaveFiles(folder, 5);
  const auto writer = Opened(folder);
  Fill(*writer, 7, 8);
  const auto log = Opened(folder);
  Fill(*log, 9, 10);
  log->Clear();
  EXPECT_EQ(log->records(), 0u);
  EXPECT_EQ(log->bytes(), 0);
  EXPECT_FALSE(log->Append(11, BytesOf(11)));
  EXPECT_EQ(FilesEnding(folder, ".rows").size(), 1u);
  EXPECT_EQ(KeysIn(*Opened(folder), 20), std::vector<uint64_t>{7});
}

// Whenever a writer is killed, what it said it kept is there, and what is there is right.
TEST(RecordLog, LosesNothingSaidToBeKeptWhenKilled) {
  std::mt19937 random(7);
  const int kills = Rounds(40, {.quick = 5, .sanitized = 5});
  constexpr uint64_t kMost = 100'000;
  for (int i = 0; i < kills; ++i) {
    const TemporaryFolder folder;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto log = RecordLog::Open(*LocalFileSystem(), folder.path(), "a");
      for (uint64_t key = 0; key < kMost; ++key) {
        if (!(*log)->Append(key, BytesOf(key)) || write(ends[1], &key, sizeof(key)) < 0) _exit(1);
      }
      _exit(0);
    }
    close(ends[1]);
    uint64_t last = 0;
    const uint64_t until = random() % 500;
    while (last < until && read(ends[0], &last, sizeof(last)) == sizeof(last)) {
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    while (read(ends[0], &last, sizeof(last)) == sizeof(last)) {
    }
    close(ends[0]);
    const std::vector<uint64_t> keys = KeysIn(*Opened(folder), last + 3);
    EXPECT_GE(keys.size(), last + 1);
    EXPECT_EQ(keys, UpTo(keys.size()));
  }
  std::printf("HEADRACE-COUNT fuzz=%d\n", kills);
}

TEST(RecordLog, ServesManyThreads) {
  const TemporaryFolder folder;
  const auto log = Opened(folder);
  std::vector<std::thread> threads;
  for (uint64_t first = 0; first < 4; ++first) {
    threads.emplace_back([&log, first] {
      for (uint64_t key = first; key < 400; key += 4) EXPECT_TRUE(log->Append(key, BytesOf(key)));
      KeysIn(*log, 400);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(KeysIn(*log, 400), UpTo(400));
  log->Finish();
  EXPECT_EQ(KeysIn(*Opened(folder), 400), UpTo(400));
}

}  // namespace
}  // namespace headrace
