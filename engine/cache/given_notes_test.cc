#include "engine/cache/given_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "core/row_id.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kMuchForKeys = 1 << 20;
constexpr size_t kMostInGivenNotesTest = 1 << 20;

std::string GivenWord(uint64_t word) { return std::string(reinterpret_cast<const char*>(&word), sizeof(word)); }

// The key of a note of this number: as a hash.
uint64_t GivenKey(uint64_t number) { return Scramble(number); }

// Of notes first to last - 1, whose texts are "note 10" and so on.
std::string GivenFile(uint64_t first, uint64_t last) {
  std::map<uint64_t, std::string> notes;
  for (uint64_t number = first; number < last; ++number) notes[GivenKey(number)] = "note " + std::to_string(number);
  std::string bytes;
  std::string table;
  for (const auto& [key, note] : notes) {
    table += GivenWord(key) + GivenWord(bytes.size()) + GivenWord(note.size());
    bytes += note;
  }
  return bytes + table + GivenWord(bytes.size()) + GivenWord(notes.size()) + "HRNOTES1";
}

class GivenNotesTest : public ::testing::Test {
 protected:
  GivenNotesTest() : account_(MemoryAccount::Open()) {}
  ~GivenNotesTest() override { account_->Close(); }

  // So many files of 100 notes each.
  void Write(uint64_t files) {
    for (uint64_t number = 0; number < files; ++number) WriteFile(GivenFile(100 * number, 100 * number + 100));
  }
  void WriteFile(std::string_view bytes) {
    paths_.push_back(folder_.path() + "/" + std::to_string(paths_.size()) + ".rec.points");
    std::ofstream(paths_.back(), std::ios::binary) << bytes;
  }
  void Open(int64_t memory = kMuchForKeys) { notes_.Open(paths_, {account_, memory, &warnings_}); }
  std::string Find(uint64_t number) {
    std::string bytes;
    return notes_.Find(GivenKey(number), kMostInGivenNotesTest, bytes) ? bytes : "";
  }

  MemoryAccount* const account_;
  const TemporaryFolder folder_;
  const CountedReads files_{DefaultFileSystem()};
  std::vector<std::string> paths_;
  RowWarnings warnings_{"map[1]", "note file"};
  GivenNotes notes_{files_};
};

TEST_F(GivenNotesTest, OfManyFilesAreFoundInTheOneThatHasThem) {
  Write(50);
  Open();
  EXPECT_EQ(notes_.notes(), 5000u);
  EXPECT_EQ(Find(0), "note 0");
  const int64_t opens = files_.opens();
  for (uint64_t number = 1; number <= 1000; ++number) {
    ASSERT_EQ(Find(5 * number - 1), "note " + std::to_string(5 * number - 1));
  }
  EXPECT_EQ(files_.opens() - opens, 1000);
}

TEST_F(GivenNotesTest, ThatAreInNoFileCostNoReads) {
  Write(50);
  Open();
  EXPECT_EQ(Find(5000), "");
  const int64_t bytes = files_.bytes();
  const int64_t opens = files_.opens();
  for (uint64_t number = 5001; number < 10'000; ++number) ASSERT_EQ(Find(number), "");
  EXPECT_EQ(files_.bytes(), bytes);
  EXPECT_EQ(files_.opens(), opens);
}

TEST_F(GivenNotesTest, HoldNoFileOpen) {
  const auto open = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  Write(50);
  const auto before = open();
  Open();
  EXPECT_EQ(Find(4321), "note 4321");
  EXPECT_EQ(open(), before);
}

TEST_F(GivenNotesTest, OfOneFileTakeNoMemory) {
  Write(1);
  Open(0);
  EXPECT_EQ(Find(99), "note 99");
  EXPECT_EQ(Find(100), "");
  EXPECT_EQ(notes_.memory_bytes(), 0);
  EXPECT_EQ(account_->held(), 0);
}

TEST_F(GivenNotesTest, OfManyTakeTheMemoryThatTheySayUntilTheyAreClosed) {
  Write(3);
  Open();
  EXPECT_EQ(account_->held(), 0);
  EXPECT_EQ(notes_.memory_bytes(), 2400);
  EXPECT_EQ(Find(299), "note 299");
  EXPECT_EQ(account_->held(), 2400);
  notes_.Close();
  EXPECT_EQ(account_->held(), 0);
  EXPECT_EQ(Find(299), "");
  EXPECT_EQ(notes_.notes(), 300u);
}

TEST_F(GivenNotesTest, NameTheFilesThatHaveNoRoom) {
  Write(3);
  Open(1700);
  EXPECT_EQ(Find(199), "note 199");
  EXPECT_EQ(Find(200), "");
  EXPECT_EQ(account_->held(), 1600);
  const WarningReport report = warnings_.report();
  EXPECT_EQ(report.rows, 1u);
  EXPECT_THAT(report.first, ElementsAre(HasSubstr(paths_[2])));
  EXPECT_THAT(report.first[0], HasSubstr("give the pipeline more memory"));
}

TEST_F(GivenNotesTest, NameTheFilesThatAreNotWhole) {
  Write(2);
  WriteFile(GivenFile(200, 300).substr(100));
  WriteFile(GivenFile(300, 400));
  std::filesystem::remove(paths_[0]);
  Open();
  EXPECT_EQ(notes_.notes(), 200u);
  EXPECT_EQ(Find(100), "note 100");
  EXPECT_EQ(Find(399), "note 399");
  const WarningReport report = warnings_.report();
  EXPECT_EQ(report.rows, 2u);
  EXPECT_THAT(report.first, ElementsAre(HasSubstr(paths_[0]), HasSubstr(paths_[2])));
  EXPECT_THAT(report.first[1], HasSubstr("is not a whole file of entry points"));
}

// In untrusted files the upper halves of all keys may be equal.
TEST_F(GivenNotesTest, TryFewFilesForOneKey) {
  const std::string entry = GivenWord(7) + GivenWord(0) + GivenWord(0);
  for (int i = 0; i < 50; ++i) WriteFile(entry + GivenWord(0) + GivenWord(1) + "HRNOTES1");
  Open();
  std::string bytes;
  EXPECT_TRUE(notes_.Find(7, kMostInGivenNotesTest, bytes));
  const int64_t opens = files_.opens();
  EXPECT_FALSE(notes_.Find(8, kMostInGivenNotesTest, bytes));
  EXPECT_LE(files_.opens() - opens, 4);
}

TEST_F(GivenNotesTest, ServeManyThreads) {
  Write(5);
  Open();
  std::vector<std::thread> threads;
  for (uint64_t first = 0; first < 4; ++first) {
    threads.emplace_back([this, first] {
      for (uint64_t number = first; number < 500; number += 4)
        EXPECT_EQ(Find(number), "note " + std::to_string(number));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace headrace
