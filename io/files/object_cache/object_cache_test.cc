#include "io/files/object_cache/object_cache.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "core/error.h"
#include "core/testing/real_pthread_create.h"
#include "core/testing/rounds.h"
#include "io/files/cancellation.h"
#include "io/files/file_system_registration.h"
#include "io/files/storage_settings.h"
#include "io/files/testing/memory_store.h"
#include "io/files/testing/temporary_folder.h"

namespace {

std::atomic<bool> threads_fail{false};

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* given) {
  return threads_fail ? EAGAIN : headrace::RealPthreadCreate(thread, attributes, run, given);
}

namespace headrace::object_cache {
namespace {

using Kind = MemoryStore::Kind;

std::string TextOfObject(int64_t bytes, uint32_t seed = 1) {
  std::mt19937_64 random(seed);
  std::string text(static_cast<size_t>(bytes + 7) / 8 * 8, '\0');
  for (size_t at = 0; at < text.size(); at += 8) {
    const uint64_t word = random();
    std::memcpy(&text[at], &word, sizeof(word));
  }
  text.resize(static_cast<size_t>(bytes));
  return text;
}

// A store, and a cache over it.
struct Cached {
  explicit Cached(const std::string& folder, MemoryStore::Options options = {}, int64_t limit = int64_t{1} << 40) {
    auto owned = std::make_unique<MemoryStore>(options);
    store = owned.get();
    auto parts = PartFolder::Open(*LocalFileSystem(), folder, {.limit = limit});
    EXPECT_TRUE(parts.ok()) << parts.status();
    files = std::make_unique<ObjectCache>(std::move(owned), *std::move(parts), "");
  }

  ListedFile Listed(const std::string& path) const {
    const FileStat stat = *store->Stat(path);
    return {stat.size, VersionHash(stat.version)};
  }

  std::unique_ptr<FileSystem> files;
  MemoryStore* store = nullptr;
};

// Reads that were started, and what came of them.
class Started {
 public:
  void Read(const FileSystem& files, const std::string& path, const ListedFile& listed) {
    const size_t number = Add();
    files.StartRead(path, listed, [this, number](absl::StatusOr<Tensor> read) {
      End(number, read.ok() ? absl::StatusOr<std::string>(std::string(read->bytes_value())) : read.status());
    });
  }
  void ReadAt(const RandomAccessFile& file, int64_t offset, int64_t bytes) {
    const size_t number = Add();
    const auto target = std::make_shared<std::vector<uint8_t>>(static_cast<size_t>(bytes));
    file.StartReadAt(offset, absl::MakeSpan(*target), [this, number, target](absl::StatusOr<int64_t> read) {
      End(number, read.ok() ? absl::StatusOr<std::string>(std::string(target->begin(), target->begin() + *read))
                            : read.status());
    });
  }
  std::vector<absl::StatusOr<std::string>> Results() {
    std::unique_lock<std::mutex> lock(mutex_);
    ended_.wait(lock, [this] { return left_ == 0; });
    return results_;
  }

 private:
  size_t Add() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++left_;
    results_.emplace_back("");
    return results_.size() - 1;
  }
  void End(size_t number, absl::StatusOr<std::string> result) {
    const std::lock_guard<std::mutex> lock(mutex_);
    results_[number] = std::move(result);
    --left_;
    ended_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<absl::StatusOr<std::string>> results_;
  size_t left_ = 0;
};

std::string ReadOne(const Cached& cached, const std::string& path, const ListedFile& listed) {
  Started started;
  started.Read(*cached.files, path, listed);
  const auto result = started.Results().at(0);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value_or("");
}

std::string ReadOneAt(const RandomAccessFile& file, int64_t offset, int64_t bytes) {
  Started started;
  started.ReadAt(file, offset, bytes);
  const auto result = started.Results().at(0);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value_or("");
}

std::vector<std::filesystem::path> PartsBelow(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename() != "bytes") files.push_back(entry.path());
  }
  return files;
}

bool HoldsParts(const std::string& folder, size_t count) {
  const auto files = PartsBelow(folder);
  const auto whole =
      std::count_if(files.begin(), files.end(), [](const auto& file) { return file.extension() != ".draft"; });
  return static_cast<size_t>(whole) >= count;
}

// Parts are written after they are given, and not while the folder's ledger is taken for long: reads once more then.
template <typename Read>
void ReadUntilKept(const std::string& folder, size_t count, const Read& read) {
  while (!HoldsParts(folder, count)) {
    read();
    std::this_thread::yield();
  }
}

// Without threads, the part is fetched on the thread of whoever asks first.
TEST(ObjectCache, NoReaderCancelsAPartForTheOthers) {
  const TemporaryFolder folder;
  const Cached cached(folder.path());
  cached.store->Put("mem://b/a", TextOfObject(1000));
  const auto file = *cached.files->Open("mem://b/a", cached.Listed("mem://b/a"));
  const std::thread::id here = std::this_thread::get_id();
  int fetched = 0;
  cached.store->set_before([&](const MemoryStore::Request&) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ(Cancellation::Current(), nullptr);
    ++fetched;
    return absl::OkStatus();
  });
  const auto cancellation = std::make_shared<Cancellation>();
  const Cancellation::Scope scope(cancellation);
  threads_fail = true;
  EXPECT_EQ(ReadOneAt(*file, 0, 1000), TextOfObject(1000));
  threads_fail = false;
  EXPECT_EQ(fetched, 1);
  EXPECT_EQ(Cancellation::Current(), cancellation);
}

TEST(ObjectCache, IsInFrontOfStoresWhoseSettingsNameAFolder) {
  const TemporaryFolder folder;
  MemoryStore* store = nullptr;
  RegisterFileSystem("cachedmem", [&store](const StorageSettings&) {
    auto made = std::make_unique<MemoryStore>();
    store = made.get();
    return made;
  });
  auto table = std::make_shared<StorageTable>();
  StorageSettings settings;
  settings.object_cache = folder / "cache";
  table->Set("cachedmem", settings);
  const FileSystem* const files = FileSystemWith(table);
  ASSERT_TRUE(files->Locate("cachedmem://b/1").ok());
  store->Put("cachedmem://b/1", "text");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(files->Read("cachedmem://b/1")->bytes_value(), "text");
  EXPECT_EQ(store->count(Kind::kRead) + store->count(Kind::kReadRange), 1);
  EXPECT_EQ(PartsBelow(folder / "cache").size(), 1u);
}

TEST(ObjectCache, ReadsAnObjectOnce) {
  const TemporaryFolder folder;
  const std::string text = TextOfObject(200'000);
  for (int run = 0; run < 3; ++run) {
    const Cached cached(folder / "cache");
    cached.store->Put("mem://b/1", text);
    const ListedFile listed = cached.Listed("mem://b/1");
    for (int epoch = 0; epoch < 2; ++epoch) EXPECT_EQ(ReadOne(cached, "mem://b/1", listed), text);
    EXPECT_EQ(cached.store->count(Kind::kRead) + cached.store->count(Kind::kReadRange), run == 0 ? 1 : 0);
    const StoreCounters counters = cached.files->far()->counters();
    EXPECT_EQ(counters.cached, run == 0 ? 1 : 2);
    EXPECT_EQ(counters.cached_bytes, counters.cached * static_cast<int64_t>(text.size()));
  }
}

TEST(ObjectCache, ReadsOneOfAnotherVersionAnew) {
  const TemporaryFolder folder;
  const Cached cached(folder / "cache");
  for (uint32_t version = 1; version < 4; ++version) {
    const std::string text = TextOfObject(1000, version);
    cached.store->Put("mem://b/1", text);
    const ListedFile listed = cached.Listed("mem://b/1");
    EXPECT_EQ(ReadOne(cached, "mem://b/1", listed), text);
    EXPECT_EQ(ReadOne(cached, "mem://b/1", listed), text);
    EXPECT_EQ(cached.store->count(Kind::kRead), version);
  }
}

TEST(ObjectCache, AsksForWhatNoListingSaid) {
  const TemporaryFolder folder;
  const Cached cached(folder / "cache");
  const std::string text = TextOfObject(1000);
  cached.store->Put("mem://b/1", text);
  EXPECT_EQ(ReadOne(cached, "mem://b/1", {}), text);
  EXPECT_EQ(ReadOne(cached, "mem://b/1", {}), text);
  EXPECT_EQ(cached.files->Read("mem://b/1")->bytes_value(), text);
  EXPECT_EQ(ReadOneAt(**cached.files->Open("mem://b/1"), 10, 20), text.substr(10, 20));
  EXPECT_EQ(cached.store->count(Kind::kRead) + cached.store->count(Kind::kReadRange), 1);
  EXPECT_EQ(cached.store->count(Kind::kStat), 4);
}

TEST(ObjectCache, KeepsNothingWithoutVersions) {
  const TemporaryFolder folder;
  const Cached cached(folder / "cache", {.versions = false});
  cached.store->Put("mem://b/1", "text");
  EXPECT_EQ(ReadOne(cached, "mem://b/1", {4, 0}), "text");
  EXPECT_EQ(ReadOne(cached, "mem://b/1", {}), "text");
  EXPECT_EQ(cached.files->Read("mem://b/1")->bytes_value(), "text");
  EXPECT_TRUE(PartsBelow(folder / "cache").empty());
}

TEST(ObjectCache, GivesRangesOfOneFetch) {
  const TemporaryFolder folder;
  const Cached cached(folder / "cache", {.completes = MemoryStore::Completes::kOnDemand});
  const std::string text = TextOfObject(300'000);
  cached.store->Put("mem://b/1", text);
  const auto file = *cached.files->Open("mem://b/1", cached.Listed("mem://b/1"));
  EXPECT_EQ(*file->Size(), 300'000);
  cached.store->ForgetRequests();
  Started started;
  for (int64_t i = 0; i < 30; ++i) started.ReadAt(*file, i * 10'000, 10'000);
  cached.store->WaitFor(1);
  cached.store->CompleteAll();
  const auto results = started.Results();
  for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(*results[i], text.substr(i * 10'000, 10'000));
  EXPECT_EQ(cached.store->given(), 300'000);
  EXPECT_EQ(cached.store->count(), 1);
  EXPECT_EQ(ReadOneAt(*file, 299'990, 100), text.substr(299'990));
  EXPECT_EQ(ReadOneAt(*file, 300'000, 100), "");
  EXPECT_EQ(ReadOneAt(*file, 5, 0), "");
  EXPECT_EQ(cached.store->count(), 1);
}

TEST(ObjectCache, ReadsALargeObjectByParts) {
  const TemporaryFolder folder;
  const Cached cached(folder / "cache");
  constexpr int64_t kSize = kWholeBytes + kPartBytes + 100;
  const std::string text = TextOfObject(kSize);
  cached.store->Put("mem://b/1", text);
  const ListedFile listed = cached.Listed("mem://b/1");
  const auto file = *cached.files->Open("mem://b/1", listed);
  cached.store->ForgetRequests();
  // Bytes of two parts.
  EXPECT_EQ(ReadOneAt(*file, kPartBytes - 10, 30), text.substr(kPartBytes - 10, 30));
  EXPECT_EQ(cached.store->given(), 2 * kPartBytes);
  EXPECT_EQ(ReadOneAt(*file, kSize - 10, 30), text.substr(kSize - 10));
  EXPECT_EQ(cached.store->given(), 2 * kPartBytes + 100);
  // The whole: what is lacking.
  EXPECT_TRUE(ReadOne(cached, "mem://b/1", listed) == text);
  EXPECT_EQ(cached.store->given(), kSize);
  ReadUntilKept(folder / "cache", 10, [&] { EXPECT_TRUE(ReadOne(cached, "mem://b/1", listed) == text); });
  const int64_t given = cached.store->given();
  EXPECT_TRUE(ReadOne(cached, "mem://b/1", listed) == text);
  EXPECT_TRUE(cached.files->Read("mem://b/1")->bytes_value() == text);
  EXPECT_EQ(cached.store->given(), given);
}

TEST(ObjectCache, KeepsTheReadsOfAStoreAsynchronous) {
  const TemporaryFolder folder;
  const Cached cached(folder / "cache", {.completes = MemoryStore::Completes::kOnDemand});
  Started started;
  constexpr int kObjects = 300;
  for (int i = 0; i < kObjects; ++i) {
    const std::string path = Cat("mem://b/", i);
    cached.store->Put(path, Cat("object ", i));
    started.Read(*cached.files, path, cached.Listed(path));
  }
  EXPECT_EQ(cached.store->outstanding(), static_cast<size_t>(kObjects));
  for (size_t which = 7; cached.store->CompleteOne(which); which += 7) {
  }
  const auto results = started.Results();
  for (int i = 0; i < kObjects; ++i) EXPECT_EQ(*results[static_cast<size_t>(i)], Cat("object ", i));
}

TEST(ObjectCache, ReadsADamagedFileFromTheStore) {
  const TemporaryFolder folder;
  const Cached cached(folder / "cache");
  const std::string text = TextOfObject(200'000);
  cached.store->Put("mem://b/1", text);
  const ListedFile listed = cached.Listed("mem://b/1");
  const auto file = *cached.files->Open("mem://b/1", listed);
  EXPECT_EQ(ReadOne(cached, "mem://b/1", listed), text);
  const std::filesystem::path part = PartsBelow(folder / "cache").at(0);
  const auto whole_bytes = std::filesystem::file_size(part);
  const auto damage = [&part] {
    std::fstream stream(part, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(-5, std::ios::end);
    stream.put('!');
    stream.put('?');
  };
  const auto reads = [&] { return cached.store->count(Kind::kRead) + cached.store->count(Kind::kReadRange); };
  EXPECT_EQ(reads(), 1);
  damage();
  EXPECT_EQ(ReadOne(cached, "mem://b/1", listed), text);
  EXPECT_EQ(reads(), 2);
  damage();
  EXPECT_EQ(ReadOneAt(*file, 199'000, 1000), text.substr(199'000));
  EXPECT_EQ(reads(), 3);
  ReadUntilKept(folder / "cache", 1, [] {});
  damage();
  std::vector<uint8_t> got(1000);
  EXPECT_EQ(*file->ReadAt(199'000, absl::MakeSpan(got)), 1000);
  EXPECT_EQ(std::string(got.begin(), got.end()), text.substr(199'000));
  EXPECT_EQ(reads(), 4);
  for (const uintmax_t left : {uintmax_t{0}, uintmax_t{20}, whole_bytes / 2}) {
    std::filesystem::resize_file(part, left);
    EXPECT_EQ(ReadOne(cached, "mem://b/1", listed), text);
    EXPECT_EQ(ReadOne(cached, "mem://b/1", listed), text);
  }
  EXPECT_EQ(reads(), 7);
}

TEST(ObjectCache, PassesErrorsOnToAllWhoWait) {
  const TemporaryFolder folder;
  const Cached cached(folder / "cache", {.completes = MemoryStore::Completes::kOnDemand});
  cached.store->Put("mem://b/1", TextOfObject(1000));
  const ListedFile listed = cached.Listed("mem://b/1");
  cached.store->Put("mem://b/1", TextOfObject(1000, 2));
  const auto file = *cached.files->Open("mem://b/1", listed);
  Started started;
  for (int64_t i = 0; i < 10; ++i) started.ReadAt(*file, i * 100, 100);
  started.Read(*cached.files, "mem://b/1", listed);
  cached.store->WaitFor(2);
  cached.store->CompleteAll();
  for (const auto& result : started.Results()) EXPECT_FALSE(result.ok());
  EXPECT_TRUE(PartsBelow(folder / "cache").empty());
  // The next ones begin anew.
  const ListedFile now = cached.Listed("mem://b/1");
  const auto changed = *cached.files->Open("mem://b/1", now);
  Started again;
  again.ReadAt(*changed, 0, 1000);
  cached.store->WaitFor(1);
  cached.store->CompleteAll();
  EXPECT_EQ(*again.Results().at(0), TextOfObject(1000, 2));
}

TEST(ObjectCache, IsSharedByProcesses) {
  const TemporaryFolder folder;
  const std::string text = TextOfObject(1000);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Cached cached(folder / "cache");
    cached.store->Put("mem://b/1", text);
    const std::string read = ReadOne(cached, "mem://b/1", cached.Listed("mem://b/1"));
    _exit(read == text ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const Cached cached(folder / "cache");
  cached.store->Put("mem://b/1", text);
  EXPECT_EQ(ReadOne(cached, "mem://b/1", cached.Listed("mem://b/1")), text);
  EXPECT_EQ(cached.store->count(Kind::kRead), 0);
}

// A child has none of the threads of the process that it was forked from.
TEST(ObjectCache, ReadsInAForkedChild) {
  const TemporaryFolder folder;
  const Cached cached(folder / "cache");
  const std::string text = TextOfObject(1000);
  cached.store->Put("mem://b/1", text);
  const ListedFile listed = cached.Listed("mem://b/1");
  EXPECT_EQ(ReadOne(cached, "mem://b/1", listed), text);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto file = *cached.files->Open("mem://b/1", listed);
    const bool good = ReadOne(cached, "mem://b/1", listed) == text && ReadOneAt(*file, 1, 9) == text.substr(1, 9);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// Whatever the order in which a store replies, and however little fits, every byte is right.
TEST(ObjectCache, GivesTheRightBytesInAnyOrder) {
  const int64_t schedules = Rounds(1000, {.quick = 150, .sanitized = 100, .long_run = 10'000});
  const TemporaryFolder folder;
  std::mt19937 random(3);
  constexpr int kObjects = 12;
  std::vector<std::string> texts;
  for (int i = 0; i < kObjects; ++i) texts.push_back(TextOfObject(1 + i * 9'001, static_cast<uint32_t>(i)));
  for (int64_t schedule = 0; schedule < schedules; ++schedule) {
    const auto completes = schedule % 2 == 0 ? MemoryStore::Completes::kOnDemand : MemoryStore::Completes::kOnThread;
    const Cached cached(folder / Cat(schedule % 3), {.completes = completes}, schedule % 3 == 0 ? 150'000 : 10'000'000);
    for (int i = 0; i < kObjects; ++i) cached.store->Put(Cat("mem://b/", i), texts[static_cast<size_t>(i)]);
    Started started;
    std::vector<std::string> expected;
    std::vector<std::shared_ptr<const RandomAccessFile>> files;
    for (int read = 0; read < 20; ++read) {
      const auto number = static_cast<size_t>(random() % kObjects);
      const std::string path = Cat("mem://b/", number);
      const std::string& text = texts[number];
      const ListedFile listed = cached.Listed(path);
      if (random() % 2 == 0) {
        started.Read(*cached.files, path, listed);
        expected.push_back(text);
      } else {
        files.push_back(*cached.files->Open(path, listed));
        const auto offset = static_cast<int64_t>(random() % text.size());
        const auto bytes = static_cast<int64_t>(random() % 30'000);
        started.ReadAt(*files.back(), offset, bytes);
        expected.push_back(text.substr(static_cast<size_t>(offset), static_cast<size_t>(bytes)));
      }
      if (random() % 3 == 0) cached.store->CompleteOne(random() % 5);
    }
    std::atomic<bool> ended = false;
    std::thread replies([&] {
      while (!ended) {
        cached.store->CompleteOne(static_cast<size_t>(schedule));
        std::this_thread::yield();
      }
    });
    const auto results = started.Results();
    ended = true;
    replies.join();
    for (size_t i = 0; i < results.size(); ++i) {
      ASSERT_TRUE(results[i].ok()) << results[i].status();
      ASSERT_EQ(*results[i], expected[i]);
    }
    EXPECT_EQ(cached.files->far()->Warning(), "");
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", static_cast<int>(schedules));
}

// Processes that are killed while they read leave a cache that gives the right bytes.
TEST(ObjectCache, OutlivesReadersThatAreKilled) {
  const int64_t kills = Rounds(40, {.quick = 6, .sanitized = 6});
  const TemporaryFolder folder;
  constexpr int kObjects = 60;
  const auto fill = [](const Cached& cached) {
    for (int i = 0; i < kObjects; ++i) {
      cached.store->Put(Cat("mem://b/", i), TextOfObject(50'000, static_cast<uint32_t>(i)));
    }
  };
  std::mt19937 random(5);
  for (int64_t i = 0; i < kills; ++i) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const Cached cached(folder / "cache", {}, 2'000'000);
      fill(cached);
      for (int number = static_cast<int>(i);; number = (number + 1) % kObjects) {
        const std::string path = Cat("mem://b/", number);
        ReadOne(cached, path, cached.Listed(path));
        if (write(ends[1], "x", 1) < 0) _exit(1);
      }
    }
    close(ends[1]);
    char said = 0;
    for (uint64_t until = random() % 60; until > 0 && read(ends[0], &said, 1) == 1; --until) {
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    close(ends[0]);
  }
  const Cached cached(folder / "cache", {}, 2'000'000);
  fill(cached);
  for (int i = 0; i < kObjects; ++i) {
    const std::string path = Cat("mem://b/", i);
    EXPECT_EQ(ReadOne(cached, path, cached.Listed(path)), TextOfObject(50'000, static_cast<uint32_t>(i)));
  }
  EXPECT_GT(cached.files->far()->counters().cached, 0);
  std::printf("HEADRACE-COUNT fuzz=%d\n", static_cast<int>(kills));
}

}  // namespace
}  // namespace headrace::object_cache
