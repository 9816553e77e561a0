#include "engine/cache/note_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

constexpr size_t kMostInNoteFileTest = 1 << 20;

std::string NoteFileWord(uint64_t word) { return std::string(reinterpret_cast<const char*>(&word), sizeof(word)); }

// Of notes with ascending keys 10, 20, ... whose texts are "note 10" and so on.
std::string NoteFileOf(uint64_t notes) {
  std::string bytes;
  std::string table;
  for (uint64_t key = 10; key <= 10 * notes; key += 10) {
    const std::string note = "note " + std::to_string(key);
    table += NoteFileWord(key) + NoteFileWord(bytes.size()) + NoteFileWord(note.size());
    bytes += note;
  }
  return bytes + table + NoteFileWord(bytes.size()) + NoteFileWord(notes) + "HRNOTES1";
}

class NoteFileTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<const NoteFile>> Open(std::string_view bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return NoteFile::Open(*DefaultFileSystem(), path_);
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/a.rec.points";
};

TEST_F(NoteFileTest, FindsEachOfAnyNumberByItsKey) {
  for (const uint64_t count : {0, 1, 2, 63, 64, 65, 129, 1000}) {
    const auto file = Open(NoteFileOf(count));
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ((*file)->notes(), count);
    std::string found;
    for (uint64_t key = 5; key <= 10 * count + 5; key += 5) {
      const bool there = key % 10 == 0;
      ASSERT_EQ((*file)->Find(key, kMostInNoteFileTest, found), there) << count << " " << key;
      EXPECT_TRUE(!there || found == "note " + std::to_string(key));
    }
  }
}

TEST_F(NoteFileTest, RefusesWhatIsCut) {
  const std::string whole = NoteFileOf(3);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const auto file = Open(whole.substr(0, bytes));
    ASSERT_FALSE(file.ok()) << bytes;
    EXPECT_THAT(std::string(file.status().message()), HasSubstr("is not a whole file of entry points"));
    EXPECT_EQ(GetErrorField(file.status(), ErrorField::kFile), path_);
  }
}

TEST_F(NoteFileTest, ReadsNothingOutsideOfTheNotesWhateverIsFlipped) {
  const std::string whole = NoteFileOf(5);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const auto file = Open(flipped);
    if (!file.ok()) continue;
    std::string found;
    for (uint64_t key = 10; key <= 50; key += 10) {
      const bool there = (*file)->Find(key, kMostInNoteFileTest, found);
      EXPECT_TRUE(!there || flipped.find(found) != std::string::npos) << bit << " " << key;
    }
  }
}

TEST_F(NoteFileTest, GivesTheKeysOfAll) {
  const auto file = Open(NoteFileOf(5000));
  ASSERT_TRUE(file.ok());
  uint64_t expected = 0;
  (*file)->ForEachKey([&](uint64_t key) { EXPECT_EQ(key, expected += 10); });
  EXPECT_EQ(expected, 50'000u);
}

TEST_F(NoteFileTest, FindsNothingOnceTheFileIsGone) {
  const auto file = Open(NoteFileOf(3));
  ASSERT_TRUE(file.ok());
  std::filesystem::remove(path_);
  std::string found;
  EXPECT_FALSE((*file)->Find(10, kMostInNoteFileTest, found));
  (*file)->ForEachKey([](uint64_t key) { ADD_FAILURE() << key; });
}

TEST_F(NoteFileTest, LeavesOutLongerNotesThanTheMost) {
  const auto file = Open(NoteFileOf(1));
  std::string found;
  EXPECT_TRUE((*file)->Find(10, 7, found));
  EXPECT_FALSE((*file)->Find(10, 6, found));
}

TEST_F(NoteFileTest, SaysThatThereIsNoFile) {
  EXPECT_FALSE(NoteFile::Open(*DefaultFileSystem(), folder_.path() + "/none").ok());
}

}  // namespace
}  // namespace headrace
