#include "engine/cache/note_cache.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

class NoteCacheTest : public testing::Test {
 protected:
  NoteCacheTest() : account_(MemoryAccount::Open()) {}
  ~NoteCacheTest() override { account_->Close(); }

  NoteCache::Use Within(int64_t memory) const { return {.account = account_, .memory = memory, .content = "content"}; }
  static std::string NoteIn(NoteCache& cache, uint64_t key) {
    std::string bytes;
    return cache.Find(key, bytes) ? bytes : "";
  }

  MemoryAccount* const account_;
};

constexpr int64_t kPlenty = 1 << 20;

TEST_F(NoteCacheTest, GivesTheLongestRightNoteBack) {
  NoteCache cache;
  cache.Open(Within(kPlenty));
  EXPECT_EQ(NoteIn(cache, 1), "");
  cache.Leave(1, "short");
  cache.Leave(2, "other");
  cache.Leave(1, "longer than before");
  EXPECT_EQ(NoteIn(cache, 1), "longer than before");
  cache.Leave(1, "shorter");
  EXPECT_EQ(NoteIn(cache, 1), "longer than before");
  cache.Leave(1, "x", EarlierNote::kWrong);
  EXPECT_EQ(NoteIn(cache, 1), "x");
  EXPECT_EQ(NoteIn(cache, 2), "other");
  cache.CountUse();
  const NoteCache::Report report = cache.report();
  EXPECT_EQ(report.notes, 2u);
  EXPECT_EQ(report.uses, 1u);
  EXPECT_EQ(report.memory_bytes, account_->held());
  cache.Close();
  EXPECT_EQ(account_->held(), 0);
  cache.Leave(3, "too late");
  EXPECT_EQ(account_->held(), 0);
}

TEST_F(NoteCacheTest, StaysWithinTheMemoryThatOthersLeave) {
  NoteCache cache;
  int64_t taken = 0;
  NoteCache::Use use = Within(10'000);
  use.taken = [&taken] { return taken; };
  cache.Open(use);
  for (uint64_t key = 0; key < 5; ++key) cache.Leave(key, std::string(500, 'a'));
  taken = 6000;
  for (uint64_t key = 5; key < 20; ++key) cache.Leave(key, std::string(500, 'a'));
  EXPECT_EQ(cache.report().notes, 6u);
  EXPECT_LE(account_->held(), 4000);
  // Neither is there room for a longer one, and the earlier one stays.
  cache.Leave(0, std::string(2000, 'b'));
  EXPECT_EQ(NoteIn(cache, 0), std::string(500, 'a'));
  cache.Shrink(1000);
  EXPECT_EQ(cache.report().notes, 1u);
  EXPECT_LE(account_->held(), 1000);
}

TEST_F(NoteCacheTest, KeepsNotesInAFolderForLaterRuns) {
  const TemporaryFolder folder;
  NoteCache::Use use = Within(kPlenty);
  use.folder = folder.path();
  const std::string longer(150, 'b');
  {
    NoteCache cache;
    cache.Open(use);
    cache.Leave(1, std::string(100, 'a'));
    // Not worth another record.
    cache.Leave(1, std::string(101, 'a'));
    cache.Leave(2, std::string(100, 'a'));
    cache.Leave(2, longer);
  }
  {
    NoteCache cache;
    cache.Open(use);
    EXPECT_EQ(NoteIn(cache, 1), std::string(100, 'a'));
    EXPECT_EQ(NoteIn(cache, 2), longer);
    EXPECT_EQ(NoteIn(cache, 3), "");
    EXPECT_GT(cache.report().disk_bytes, 300);
    EXPECT_EQ(cache.report().notes, 2u);
  }
  // Also where there is no memory for them.
  use.memory = 0;
  NoteCache cache;
  cache.Open(use);
  EXPECT_EQ(NoteIn(cache, 2), longer);
  EXPECT_EQ(account_->held(), 0);
  cache.Close();
  use.content = "other content";
  NoteCache other;
  other.Open(use);
  EXPECT_EQ(NoteIn(other, 2), "");
}

// As after a change of a file that keeps its size, and so the name of the content.
TEST_F(NoteCacheTest, HealsAFolderOfWrongNotes) {
  const TemporaryFolder folder;
  NoteCache::Use use = Within(kPlenty);
  use.folder = folder.path();
  for (const char made_of : {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}) {
    SCOPED_TRACE(made_of);
    NoteCache cache;
    cache.Open(use);
    const bool first = made_of == 'a';
    EXPECT_EQ(NoteIn(cache, 1), first ? "" : std::string(100, static_cast<char>(made_of - 1)));
    cache.Leave(1, std::string(100, made_of), first ? EarlierNote::kRightOrNone : EarlierNote::kWrong);
    EXPECT_EQ(NoteIn(cache, 1), std::string(100, made_of));
  }
  // No further record is written.
  NoteCache cache;
  cache.Open(use);
  EXPECT_EQ(NoteIn(cache, 1), std::string(100, 'h'));
  const int64_t bytes = cache.report().disk_bytes;
  cache.Leave(1, std::string(100, 'i'), EarlierNote::kWrong);
  EXPECT_EQ(cache.report().disk_bytes, bytes);
}

TEST_F(NoteCacheTest, MakesAFolderForTheFirstNoteAlone) {
  const TemporaryFolder folder;
  NoteCache::Use use = Within(kPlenty);
  use.folder = folder.path();
  NoteCache cache;
  cache.Open(use);
  cache.Shrink(kPlenty / 2);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  cache.Leave(1, "note");
  EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
}

TEST_F(NoteCacheTest, StaysInMemoryWhereTheFolderCannotBeUsed) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "x";
  NoteCache::Use use = Within(kPlenty);
  use.folder = folder.path() + "/file";
  NoteCache cache;
  cache.Open(use);
  cache.Leave(1, "note");
  EXPECT_EQ(NoteIn(cache, 1), "note");
  EXPECT_EQ(NoteIn(cache, 2), "");
  EXPECT_EQ(cache.report().disk_bytes, 0);
}

TEST_F(NoteCacheTest, KeepsNothingWithoutMemoryAndFolder) {
  NoteCache cache;
  cache.Open(Within(0));
  cache.Leave(1, "");
  cache.Leave(2, "note");
  EXPECT_EQ(cache.report().notes, 0u);
  EXPECT_EQ(account_->held(), 0);
}

TEST_F(NoteCacheTest, ServesManyThreads) {
  NoteCache cache;
  cache.Open(Within(20'000));
  std::vector<std::thread> threads;
  for (uint64_t number = 0; number < 4; ++number) {
    threads.emplace_back([&cache, number] {
      std::string bytes;
      for (uint64_t i = 0; i < 2000; ++i) {
        const uint64_t key = (i * 7 + number) % 100;
        if (cache.Find(key, bytes)) {
          EXPECT_EQ(bytes, std::string(bytes.size(), static_cast<char>(key)));
        }
        cache.Leave(key, std::string(1 + i % 50, static_cast<char>(key)));
        if (i == 1500) cache.Shrink(10'000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.report().memory_bytes, account_->held());
  EXPECT_LE(account_->held(), 10'000);
}

}  // namespace
}  // namespace headrace
